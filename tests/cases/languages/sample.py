import os

@decorate
@twice(
    1)
class Cart(Base):
    limit = 3

    @property
    def total(self):
        # note
        def add(a, b):
            return a + b

        return add(1, "two")
        # trailing note

async def main() -> None:
    pass

x = lambda a: a
