"""HLO templates of the TPU's blocks of linear algebra, and the blocks that are a few ops.

A program returns the text of a module whose entry computes the custom call, for any leading batch dimensions and f32,
f64, c64 or c128. The algorithms are those of xla/hlo/transforms/expanders (qr_expander, triangular_solve_expander,
cholesky_expander, eigh_expander) and of `jax.lax.linalg` (`_lu_unblocked`): unblocked loops, since a call gets one
block. In a template, `$T` is the element type, `$R` that of its real part, `$ZERO` and `$ONE` are literals, `$A` is the
shape of the first operand; `$B`, `$M` and `$N` are the product of the batch dimensions, the rows and the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from string import Template

from dialect_utils.layout import ArrayShape

IDENTITY = """  row = $S32 iota(), iota_dimension=$ROW
  column = $S32 iota(), iota_dimension=$COLUMN
  is_diagonal = $PRED compare(row, column), direction=EQ
  identity = $A convert(is_diagonal)
"""

ADD = """add {
  x = $T[] parameter(0)
  y = $T[] parameter(1)
  ROOT sum = $T[] add(x, y)
}
"""

# The condition of a loop over columns; element 0 of the state is the column's number.
COUNTS_COLUMNS = """continues {
  state = $STATE parameter(0)
  k = s32[] get-tuple-element(state), index=0
  count = s32[] constant($K)
  ROOT goes_on = pred[] compare(k, count), direction=LT
}
"""


def filled(template: str, a: ArrayShape, **values: object) -> str:
    """Returns the text of a template for a first operand a[..., m, n]."""
    *batch, rows, columns = a.dimensions
    kind = a.element_type
    dims = ",".join(map(str, a.dimensions))
    known: dict[str, object] = {
        "T": kind.name,
        "R": real_type(a),
        "ZERO": "(0, 0)" if kind.is_complex else "0",
        "ONE": "(1, 0)" if kind.is_complex else "1",
        "A": str(a.without_layout),
        "S32": f"s32[{dims}]",
        "PRED": f"pred[{dims}]",
        "B": prod(batch),
        "M": rows,
        "N": columns,
        "K": min(rows, columns),
        "SOLVE": "unit_diagonal=false, transpose_a=NO_TRANSPOSE",
        "SOLVE_UNIT": "unit_diagonal=true, transpose_a=NO_TRANSPOSE",
        "ROW": a.rank - 2,
        "COLUMN": a.rank - 1,
    }
    return Template(template).substitute(known | values)


def shape_text(element_type: str, batch: Sequence[int], *dimensions: int) -> str:
    """Returns the text of a shape with batch dimensions."""
    return f"{element_type}[{','.join(map(str, (*batch, *dimensions)))}]"


def real_type(a: ArrayShape) -> str:
    """Returns the element type of an array's real part."""
    return a.element_type.part.name


def conjugate(a: ArrayShape, name: str, value: str, dims: str) -> str:
    """Returns lines that make the conjugate of `value`, a copy for real numbers."""
    if not a.element_type.is_complex:
        return f"  {name} = $T[{dims}] copy({value})\n"
    return (
        f"  {name}_re = $R[{dims}] real({value})\n"
        f"  {name}_im = $R[{dims}] imag({value})\n"
        f"  {name}_minus = $R[{dims}] negate({name}_im)\n"
        f"  {name} = $T[{dims}] complex({name}_re, {name}_minus)\n"
    )


def cholesky(a: ArrayShape) -> str:
    """Returns `Cholesky`: the lower triangular factor of a[..., n, n], NaN if the factor does not exist."""
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
