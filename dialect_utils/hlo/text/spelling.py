"""Spells names as a computation spells them: with `%` or bare."""

from __future__ import annotations

from dialect_utils.layout import ELEMENT_TYPES

# What XLA's lexer reads as something else where no `%` is before it (xla/hlo/parser/hlo_lexer.cc).
_KEYWORDS = (
    "true false inf nan HloModule ENTRY ROOT FileLocations FileNames FunctionNames StackFrames maximal replicated "
    "manual last_tile_dim_replicate shard_as shard_like unknown unreduced token opaque invalid"
)
_RESERVED = frozenset(_KEYWORDS.split()) | frozenset(ELEMENT_TYPES)


def with_sigil(style: str, name: str) -> str:
    """Returns a name in a style (`%` or nothing); with `%` also where XLA would misread the bare name."""
    return f"%{name}" if style or name in _RESERVED else name
