"""Deterministic scores for what LLMs do with code. The notebooks in nbs/ are the source of all other modules."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crucible_nb.fix.diffs import read_diff
    from crucible_nb.fix.reference import read_reference
    from crucible_nb.fix.score import score_fix
    from crucible_nb.rules import Rules

__version__ = "0.1.0"
__all__ = ["Rules", "read_diff", "read_reference", "score_fix"]

_HOMES = {
    "Rules": "crucible_nb.rules",
    "read_diff": "crucible_nb.fix.diffs",
    "read_reference": "crucible_nb.fix.reference",
    "score_fix": "crucible_nb.fix.score",
}


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'crucible_nb' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
