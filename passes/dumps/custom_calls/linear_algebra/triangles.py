"""Cholesky factors, inverses of triangular matrices, and what products of reflectors need of them."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape
from passes.dumps.custom_calls.linear_algebra.templates import IDENTITY, filled


def cholesky(a: ArrayShape) -> str:
    """Returns `Cholesky`: the lower triangular factor of a[..., n, n]; NaN where there is none."""
    return filled(_CHOLESKY, a)


def invert_triangular(a: ArrayShape, *, lower: bool) -> str:
    """Returns `InvertDiagBlocksLowerTriangular` or `...Upper...`: the inverse of each a[..., n, n]."""
    return filled(_INVERT, a, LOWER="true" if lower else "false")


def compact_wy(a: ArrayShape) -> str:
    """Returns `CompactWyHelper`: T of a product of reflectors I + V T V', from one matrix.

    The operand's diagonal is -tau, its strict upper part -tau[j] (V'V)[i, j]. Column by column
    T[:, j] = x[j, j] e_j + sum over i < j of T[:, i] x[i, j]; so T (I - striu(x)) = diag(x).
    """
    return filled(_COMPACT_WY, a)


_CHOLESKY = """HloModule cholesky
ENTRY block {
  a = $A parameter(0)
  factor = $A cholesky(a), lower=true
  row = $S32 iota(), iota_dimension=$ROW
  column = $S32 iota(), iota_dimension=$COLUMN
  is_lower = $PRED compare(row, column), direction=GE
  zero = $T[] constant($ZERO)
  zeros = $A broadcast(zero), dimensions={}
  ROOT lower = $A select(is_lower, factor, zeros)
}
"""

_INVERT = f"""HloModule invert_diag_blocks
ENTRY block {{
  a = $A parameter(0)
{IDENTITY}  ROOT inverse = $A triangular-solve(a, identity), left_side=true, lower=$LOWER, $SOLVE
}}
"""

_COMPACT_WY = f"""HloModule compact_wy
ENTRY block {{
  x = $A parameter(0)
{IDENTITY}  zero = $T[] constant($ZERO)
  zeros = $A broadcast(zero), dimensions={{}}
  diagonal = $A select(is_diagonal, x, zeros)
  unit_upper = $A subtract(identity, x)
  ROOT t = $A triangular-solve(unit_upper, diagonal), left_side=false, lower=false, $SOLVE_UNIT
}}
"""
