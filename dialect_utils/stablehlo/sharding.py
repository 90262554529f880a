"""Shardings of values whose dimensions change: what splits no dimension follows, the rest is refused.

Source: Shardy's `#sdy.sharding` and `#sdy.sharding_per_value`, one list of dimensions per value;
OpSharding's text in `mhlo.sharding`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.stablehlo.bindings import ir, string_value
from dialect_utils.text import Diagnostic, DiagnosticError

_SDY, _MHLO = "sdy.sharding", "mhlo.sharding"
SHARDINGS = (_SDY, _MHLO)
# The dimensions of one value: after its mesh.
_DIMENSIONS = re.compile(r"(?<=, )\[(?:\{[^{}]*\}(?:p\d+)?(?:, )?)*\]")
_WHOLE = re.compile(r"(?:replicated|manual|maximal device=\d+|[{}, ])*")


def changed_ranks(before: Sequence[Shape], after: Sequence[Shape]) -> list[int | None]:
    """Returns the new rank of each value whose dimensions change, None for the others."""
    pairs = zip(before, after, strict=True)
    return [_rank(new) if _dimensions(old) != _dimensions(new) else None for old, new in pairs]


def _dimensions(shape: Shape) -> tuple[int, ...] | None:
    return shape.dimensions if isinstance(shape, ArrayShape) else None


def _rank(shape: Shape) -> int | None:
    return shape.rank if isinstance(shape, ArrayShape) else None


def followed_shardings(
    attributes: Mapping[str, ir.Attribute], ranks: Sequence[int | None]
) -> Iterator[tuple[str, ir.Attribute]]:
    """Yields the shardings that must change for values of new ranks (None: unchanged), by name.

    Raises DiagnosticError where one splits a dimension: the new dimensions are others.
    """
    if all(rank is None for rank in ranks):
        return
    found = attributes.get(_MHLO)
    if isinstance(found, ir.StringAttr) and not _WHOLE.fullmatch(string_value(found)):
        raise _refused(_MHLO, string_value(found))
    sharding = attributes.get(_SDY)
    if sharding is not None:
        yield _SDY, _followed(sharding, ranks)


def _followed(sharding: ir.Attribute, ranks: Sequence[int | None]) -> ir.Attribute:
    values = iter(ranks)

    def replace(match: re.Match[str]) -> str:
        rank = next(values, None)
        if rank is None:
            return match[0]
        if '"' in match[0]:
            raise _refused(_SDY, str(sharding))
        return "[" + ", ".join(["{?}" if "?" in match[0] else "{}"] * rank) + "]"

    return ir.Attribute.parse(_DIMENSIONS.sub(replace, str(sharding)), sharding.context)


def _refused(name: str, text: str) -> DiagnosticError:
    message = f"{name} {text} splits a dimension of a value whose dimensions change"
    return DiagnosticError(Diagnostic(message, hint="partition the program first, or remove the sharding"))
