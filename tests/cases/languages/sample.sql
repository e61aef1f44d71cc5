-- the carts
CREATE TABLE IF NOT EXISTS cart (
    id INTEGER PRIMARY KEY,
    net INTEGER NOT NULL -- in cents
);

create or replace function total(net integer) returns integer as $$
    select net * 2;
$$ language sql;
