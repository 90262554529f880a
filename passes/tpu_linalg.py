"""The blocks of linear algebra that TPUs compute in one custom call, written as HLO.

Each function returns the text of a module whose entry computes what the custom call computes, on
arrays with any leading batch dimensions. The algorithms are those of XLA's own expanders
(xla/hlo/transforms/expanders: qr_expander, triangular_solve_expander, cholesky_expander) and of
`jax.lax.linalg` (`_lu_unblocked`): unblocked loops over columns, since these calls get one block.
The file is long because most of it is programs: one HLO template for each call.
"""

from __future__ import annotations

from math import prod
from string import Template

from dialect_utils.layout import ArrayShape


def cholesky(a: ArrayShape) -> str:
    """Returns `Cholesky`: the lower triangular factor of a[..., n, n]; NaN where there is none."""
    return _fill(_CHOLESKY, a)


def invert_triangular(a: ArrayShape, *, lower: bool) -> str:
    """Returns `InvertDiagBlocksLowerTriangular` or `...Upper...`: the inverse of each a[..., n, n]."""
    return _fill(_INVERT, a, LOWER="true" if lower else "false")


def compact_wy(a: ArrayShape) -> str:
    """Returns `CompactWyHelper`: T of a product of reflectors I + V T V', from one matrix.

    The operand's diagonal is -tau, its strict upper part -tau[j] (V'V)[i, j]. Column by column
    T[:, j] = x[j, j] e_j + sum over i < j of T[:, i] x[i, j]; so T (I - striu(x)) = diag(x).
    """
    return _fill(_COMPACT_WY, a)


def lu(a: ArrayShape) -> str:
    """Returns `LuRealDecompositionBlock`: packed factors, pivots and the row permutation of a[..., m, n]."""
    *batch, rows, columns = a.dimensions
    return _fill(
        _LU,
        a,
        B=prod(batch),
        M=rows,
        N=columns,
        K=min(rows, columns),
        RESULT=_shape(a.element_type.name, batch, rows, columns),
        PIVOTS=_shape("s32", batch, min(rows, columns)),
        PERMUTATION=_shape("s32", batch, rows),
    )


def qr(a: ArrayShape) -> str:
    """Returns `QrDecompositionBlock`: R above packed reflectors, and their scales, of a[..., m, n]."""
    *batch, rows, columns = a.dimensions
    count = min(rows, columns)
    return _fill(
        _QR,
        a,
        B=prod(batch),
        M=rows,
        N=columns,
        K=count,
        RESULT=_shape(a.element_type.name, batch, rows, columns),
        TAUS=_shape(a.element_type.name, batch, count),
    )


def eigh(a: ArrayShape) -> str:
    """Returns `EighTpu`: eigenvalues and eigenvectors of a symmetric matrix given as four blocks a[n, n].

    Results: the eigenvalues of the upper and lower half, and the four blocks of a matrix whose rows
    are the eigenvectors. Jacobi's method in Brent and Luk's parallel order, as in XLA's eigh_expander.
    """
    n = a.dimensions[-1]
    return _fill(_EIGH, a, N=n, STEPS=_SWEEPS * (2 * n - 1), **_tournament(a.element_type.name, n))


# Jacobi's method converges quadratically: f32 needs six to eight sweeps up to n = 256.
_SWEEPS = 10


def _tournament(kind: str, n: int) -> dict[str, str]:
    """Returns the lines that send every index to its next partner; the first one stays."""
    rows = _exchange("r", (("tl", "bl"), ("tr", "br")), kind, n, dim=0)
    columns = _exchange("c", (("tl", "tr"), ("bl", "br")), kind, n, dim=1, source="r")
    vectors = _exchange("u", (("tl", "bl"), ("tr", "br")), kind, n, dim=0, source="v")
    return {"PERMUTED": "".join(rows + columns), "PERMUTED_VECTORS": "".join(vectors)}


def _exchange(
    name: str, pairs: tuple[tuple[str, str], ...], kind: str, n: int, dim: int, source: str = "w"
) -> list[str]:
    whole = f"{kind}[{n},{n}]"
    if n == 1:
        return [f"  {name}_{block} = {whole} copy({source}_{block})\n" for pair in pairs for block in pair]
    lines = []
    for first, second in pairs:
        parts = {
            f"{name}_{first}_0": (f"{source}_{first}", 0, 1),
            f"{name}_{first}_1": (f"{source}_{second}", 0, 1),
            f"{name}_{first}_2": (f"{source}_{first}", 1, n - 1),
            f"{name}_{second}_0": (f"{source}_{second}", 1, n),
            f"{name}_{second}_1": (f"{source}_{first}", n - 1, n),
        }
        for part, (value, start, limit) in parts.items():
            size = limit - start
            bounds = [f"[{start}:{limit}]", f"[0:{n}]"] if dim == 0 else [f"[0:{n}]", f"[{start}:{limit}]"]
            dims = f"{size},{n}" if dim == 0 else f"{n},{size}"
            lines.append(f"  {part} = {kind}[{dims}] slice({value}), slice={{{', '.join(bounds)}}}\n")
        for block, count in ((first, 3), (second, 2)):
            taken = ", ".join(f"{name}_{block}_{i}" for i in range(count))
            lines.append(f"  {name}_{block} = {whole} concatenate({taken}), dimensions={{{dim}}}\n")
    return lines


def _shape(element_type: str, batch: list[int], *dimensions: int) -> str:
    return f"{element_type}[{','.join(map(str, (*batch, *dimensions)))}]"


def _fill(template: str, a: ArrayShape, **values: object) -> str:
    rank = a.rank
    known = {
        "T": a.element_type.name,
        "A": str(a.with_layout(None)),
        "S32": f"s32[{','.join(map(str, a.dimensions))}]",
        "PRED": f"pred[{','.join(map(str, a.dimensions))}]",
        "SOLVE": "unit_diagonal=false, transpose_a=NO_TRANSPOSE",
        "SOLVE_UNIT": "unit_diagonal=true, transpose_a=NO_TRANSPOSE",
        "ROW": rank - 2,
        "COLUMN": rank - 1,
    }
    return Template(template).substitute(known, **values)


_CHOLESKY = """HloModule cholesky
ENTRY block {
  a = $A parameter(0)
  factor = $A cholesky(a), lower=true
  row = $S32 iota(), iota_dimension=$ROW
  column = $S32 iota(), iota_dimension=$COLUMN
  is_lower = $PRED compare(row, column), direction=GE
  zero = $T[] constant(0)
  zeros = $A broadcast(zero), dimensions={}
  ROOT lower = $A select(is_lower, factor, zeros)
}
"""

_IDENTITY = """  row = $S32 iota(), iota_dimension=$ROW
  column = $S32 iota(), iota_dimension=$COLUMN
  is_diagonal = $PRED compare(row, column), direction=EQ
  identity = $A convert(is_diagonal)
"""

_INVERT = f"""HloModule invert_diag_blocks
ENTRY block {{
  a = $A parameter(0)
{_IDENTITY}  ROOT inverse = $A triangular-solve(a, identity), left_side=true, lower=$LOWER, $SOLVE
}}
"""

_COMPACT_WY = f"""HloModule compact_wy
ENTRY block {{
  x = $A parameter(0)
{_IDENTITY}  zero = $T[] constant(0)
  zeros = $A broadcast(zero), dimensions={{}}
  diagonal = $A select(is_diagonal, x, zeros)
  unit_upper = $A subtract(identity, x)
  ROOT t = $A triangular-solve(unit_upper, diagonal), left_side=false, lower=false, $SOLVE_UNIT
}}
"""

_ADD = """add {
  x = $T[] parameter(0)
  y = $T[] parameter(1)
  ROOT sum = $T[] add(x, y)
}
"""

# Rows k and p change places; the rest of the loop divides column k and subtracts the outer product.
_LU = f"""HloModule lu
{_ADD}add_s32 {{
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT sum = s32[] add(x, y)
}}
first_largest {{
  x = $T[] parameter(0)
  i = s32[] parameter(1)
  y = $T[] parameter(2)
  j = s32[] parameter(3)
  x_is_larger = pred[] compare(x, y), direction=GT
  x_is_nan = pred[] compare(x, x), direction=NE
  x_wins = pred[] or(x_is_larger, x_is_nan)
  equal = pred[] compare(x, y), direction=EQ
  i_is_first = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, i_is_first)
  take_x = pred[] or(x_wins, tie)
  value = $T[] select(take_x, x, y)
  index = s32[] select(take_x, i, j)
  ROOT pair = ($T[], s32[]) tuple(value, index)
}}
step {{
  state = (s32[], $T[$B,$M,$N], s32[$B,$K], s32[$B,$M]) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  a = $T[$B,$M,$N] get-tuple-element(state), index=1
  pivots = s32[$B,$K] get-tuple-element(state), index=2
  permutation = s32[$B,$M] get-tuple-element(state), index=3
  one_s32 = s32[] constant(1)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant(0)
  minus_one = $T[] constant(-1)
  zeros_bm = $T[$B,$M] broadcast(zero), dimensions={{}}
  zeros_bmn = $T[$B,$M,$N] broadcast(zero), dimensions={{}}
  rows = s32[$B,$M] iota(), iota_dimension=1
  k_bm = s32[$B,$M] broadcast(k), dimensions={{}}
  column3 = $T[$B,$M,1] dynamic-slice(a, zero_s32, zero_s32, k), dynamic_slice_sizes={{$B,$M,1}}
  column = $T[$B,$M] reshape(column3)
  magnitude = $T[$B,$M] abs(column)
  is_candidate = pred[$B,$M] compare(rows, k_bm), direction=GE
  excluded = $T[$B,$M] broadcast(minus_one), dimensions={{}}
  candidates = $T[$B,$M] select(is_candidate, magnitude, excluded)
  largest = ($T[$B], s32[$B]) reduce(candidates, rows, minus_one, zero_s32), dimensions={{1}}, to_apply=first_largest
  pivot_row = s32[$B] get-tuple-element(largest), index=1
  pivot_row2 = s32[$B,1] reshape(pivot_row)
  new_pivots = s32[$B,$K] dynamic-update-slice(pivots, pivot_row2, zero_s32, k)
  pivot_row_bm = s32[$B,$M] broadcast(pivot_row), dimensions={{0}}
  is_k = pred[$B,$M] compare(rows, k_bm), direction=EQ
  is_pivot = pred[$B,$M] compare(rows, pivot_row_bm), direction=EQ
  is_k3 = pred[$B,$M,$N] broadcast(is_k), dimensions={{0,1}}
  is_pivot3 = pred[$B,$M,$N] broadcast(is_pivot), dimensions={{0,1}}
  row_k3 = $T[$B,1,$N] dynamic-slice(a, zero_s32, k, zero_s32), dynamic_slice_sizes={{$B,1,$N}}
  row_k = $T[$B,$N] reshape(row_k3)
  row_k_bmn = $T[$B,$M,$N] broadcast(row_k), dimensions={{0,2}}
  only_pivot = $T[$B,$M,$N] select(is_pivot3, a, zeros_bmn)
  row_pivot = $T[$B,$N] reduce(only_pivot, zero), dimensions={{1}}, to_apply=add
  row_pivot_bmn = $T[$B,$M,$N] broadcast(row_pivot), dimensions={{0,2}}
  half_swapped = $T[$B,$M,$N] select(is_pivot3, row_k_bmn, a)
  swapped = $T[$B,$M,$N] select(is_k3, row_pivot_bmn, half_swapped)
  at_k2 = s32[$B,1] dynamic-slice(permutation, zero_s32, k), dynamic_slice_sizes={{$B,1}}
  at_k = s32[$B] reshape(at_k2)
  at_k_bm = s32[$B,$M] broadcast(at_k), dimensions={{0}}
  zeros_s32 = s32[$B,$M] broadcast(zero_s32), dimensions={{}}
  only_at_pivot = s32[$B,$M] select(is_pivot, permutation, zeros_s32)
  at_pivot = s32[$B] reduce(only_at_pivot, zero_s32), dimensions={{1}}, to_apply=add_s32
  at_pivot_bm = s32[$B,$M] broadcast(at_pivot), dimensions={{0}}
  half_permuted = s32[$B,$M] select(is_pivot, at_k_bm, permutation)
  new_permutation = s32[$B,$M] select(is_k, at_pivot_bm, half_permuted)
  pivot3 = $T[$B,1,1] dynamic-slice(swapped, zero_s32, k, k), dynamic_slice_sizes={{$B,1,1}}
  pivot = $T[$B] reshape(pivot3)
  pivot_bm = $T[$B,$M] broadcast(pivot), dimensions={{0}}
  pivot_is_usable = pred[$B,$M] compare(pivot_bm, zeros_bm), direction=NE
  is_below = pred[$B,$M] compare(rows, k_bm), direction=GT
  divides = pred[$B,$M] and(is_below, pivot_is_usable)
  swapped_column3 = $T[$B,$M,1] dynamic-slice(swapped, zero_s32, zero_s32, k), dynamic_slice_sizes={{$B,$M,1}}
  swapped_column = $T[$B,$M] reshape(swapped_column3)
  quotient = $T[$B,$M] divide(swapped_column, pivot_bm)
  factors = $T[$B,$M] select(divides, quotient, swapped_column)
  factors3 = $T[$B,$M,1] reshape(factors)
  divided = $T[$B,$M,$N] dynamic-update-slice(swapped, factors3, zero_s32, zero_s32, k)
  factors_bmn = $T[$B,$M,$N] broadcast(factors), dimensions={{0,1}}
  product = $T[$B,$M,$N] multiply(factors_bmn, row_pivot_bmn)
  rows3 = s32[$B,$M,$N] iota(), iota_dimension=1
  columns3 = s32[$B,$M,$N] iota(), iota_dimension=2
  k_bmn = s32[$B,$M,$N] broadcast(k), dimensions={{}}
  is_below3 = pred[$B,$M,$N] compare(rows3, k_bmn), direction=GT
  is_right3 = pred[$B,$M,$N] compare(columns3, k_bmn), direction=GT
  is_trailing = pred[$B,$M,$N] and(is_below3, is_right3)
  update = $T[$B,$M,$N] select(is_trailing, product, zeros_bmn)
  new_a = $T[$B,$M,$N] subtract(divided, update)
  next_k = s32[] add(k, one_s32)
  ROOT next = (s32[], $T[$B,$M,$N], s32[$B,$K], s32[$B,$M]) tuple(next_k, new_a, new_pivots, new_permutation)
}}
continues {{
  state = (s32[], $T[$B,$M,$N], s32[$B,$K], s32[$B,$M]) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  count = s32[] constant($K)
  ROOT goes_on = pred[] compare(k, count), direction=LT
}}
ENTRY block {{
  a = $A parameter(0)
  matrix = $T[$B,$M,$N] reshape(a)
  zero_s32 = s32[] constant(0)
  no_pivots = s32[$B,$K] broadcast(zero_s32), dimensions={{}}
  identity = s32[$B,$M] iota(), iota_dimension=1
  start = (s32[], $T[$B,$M,$N], s32[$B,$K], s32[$B,$M]) tuple(zero_s32, matrix, no_pivots, identity)
  loop = (s32[], $T[$B,$M,$N], s32[$B,$K], s32[$B,$M]) while(start), condition=continues, body=step
  factors3 = $T[$B,$M,$N] get-tuple-element(loop), index=1
  factors = $RESULT reshape(factors3)
  pivots2 = s32[$B,$K] get-tuple-element(loop), index=2
  pivots = $PIVOTS reshape(pivots2)
  permutation2 = s32[$B,$M] get-tuple-element(loop), index=3
  permutation = $PERMUTATION reshape(permutation2)
  ROOT result = ($RESULT, $PIVOTS, $PERMUTATION) tuple(factors, pivots, permutation)
}}
"""

# LAPACK's reflector: beta = -sign(alpha) |x|, tau = (beta - alpha) / beta, v = x / (alpha - beta).
_QR = f"""HloModule qr
{_ADD}step {{
  state = (s32[], $T[$B,$M,$N], $T[$B,$K]) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  a = $T[$B,$M,$N] get-tuple-element(state), index=1
  taus = $T[$B,$K] get-tuple-element(state), index=2
  one_s32 = s32[] constant(1)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant(0)
  one = $T[] constant(1)
  zeros_b = $T[$B] broadcast(zero), dimensions={{}}
  ones_b = $T[$B] broadcast(one), dimensions={{}}
  zeros_bm = $T[$B,$M] broadcast(zero), dimensions={{}}
  ones_bm = $T[$B,$M] broadcast(one), dimensions={{}}
  zeros_bmn = $T[$B,$M,$N] broadcast(zero), dimensions={{}}
  rows = s32[$B,$M] iota(), iota_dimension=1
  k_bm = s32[$B,$M] broadcast(k), dimensions={{}}
  is_below = pred[$B,$M] compare(rows, k_bm), direction=GT
  is_k = pred[$B,$M] compare(rows, k_bm), direction=EQ
  column3 = $T[$B,$M,1] dynamic-slice(a, zero_s32, zero_s32, k), dynamic_slice_sizes={{$B,$M,1}}
  column = $T[$B,$M] reshape(column3)
  tail = $T[$B,$M] select(is_below, column, zeros_bm)
  tail_squared = $T[$B,$M] multiply(tail, tail)
  sigma = $T[$B] reduce(tail_squared, zero), dimensions={{1}}, to_apply=add
  alpha3 = $T[$B,1,1] dynamic-slice(a, zero_s32, k, k), dynamic_slice_sizes={{$B,1,1}}
  alpha = $T[$B] reshape(alpha3)
  alpha_squared = $T[$B] multiply(alpha, alpha)
  norm_squared = $T[$B] add(alpha_squared, sigma)
  norm = $T[$B] sqrt(norm_squared)
  minus_norm = $T[$B] negate(norm)
  alpha_is_negative = pred[$B] compare(alpha, zeros_b), direction=LT
  reflected = $T[$B] select(alpha_is_negative, norm, minus_norm)
  is_done = pred[$B] compare(sigma, zeros_b), direction=EQ
  beta = $T[$B] select(is_done, alpha, reflected)
  difference = $T[$B] subtract(beta, alpha)
  scale = $T[$B] divide(difference, beta)
  tau = $T[$B] select(is_done, zeros_b, scale)
  alpha_minus_beta = $T[$B] subtract(alpha, beta)
  divisor = $T[$B] select(is_done, ones_b, alpha_minus_beta)
  divisor_bm = $T[$B,$M] broadcast(divisor), dimensions={{0}}
  v_tail = $T[$B,$M] divide(tail, divisor_bm)
  v = $T[$B,$M] select(is_k, ones_bm, v_tail)
  v_bmn = $T[$B,$M,$N] broadcast(v), dimensions={{0,1}}
  weighted = $T[$B,$M,$N] multiply(v_bmn, a)
  projection = $T[$B,$N] reduce(weighted, zero), dimensions={{1}}, to_apply=add
  tau_bn = $T[$B,$N] broadcast(tau), dimensions={{0}}
  scaled = $T[$B,$N] multiply(projection, tau_bn)
  scaled_bmn = $T[$B,$M,$N] broadcast(scaled), dimensions={{0,2}}
  product = $T[$B,$M,$N] multiply(v_bmn, scaled_bmn)
  columns3 = s32[$B,$M,$N] iota(), iota_dimension=2
  k_bmn = s32[$B,$M,$N] broadcast(k), dimensions={{}}
  is_right3 = pred[$B,$M,$N] compare(columns3, k_bmn), direction=GT
  update = $T[$B,$M,$N] select(is_right3, product, zeros_bmn)
  updated = $T[$B,$M,$N] subtract(a, update)
  beta_bm = $T[$B,$M] broadcast(beta), dimensions={{0}}
  upper = $T[$B,$M] select(is_k, beta_bm, column)
  new_column = $T[$B,$M] select(is_below, v_tail, upper)
  new_column3 = $T[$B,$M,1] reshape(new_column)
  new_a = $T[$B,$M,$N] dynamic-update-slice(updated, new_column3, zero_s32, zero_s32, k)
  tau2 = $T[$B,1] reshape(tau)
  new_taus = $T[$B,$K] dynamic-update-slice(taus, tau2, zero_s32, k)
  next_k = s32[] add(k, one_s32)
  ROOT next = (s32[], $T[$B,$M,$N], $T[$B,$K]) tuple(next_k, new_a, new_taus)
}}
continues {{
  state = (s32[], $T[$B,$M,$N], $T[$B,$K]) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  count = s32[] constant($K)
  ROOT goes_on = pred[] compare(k, count), direction=LT
}}
ENTRY block {{
  a = $A parameter(0)
  matrix = $T[$B,$M,$N] reshape(a)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant(0)
  no_taus = $T[$B,$K] broadcast(zero), dimensions={{}}
  start = (s32[], $T[$B,$M,$N], $T[$B,$K]) tuple(zero_s32, matrix, no_taus)
  loop = (s32[], $T[$B,$M,$N], $T[$B,$K]) while(start), condition=continues, body=step
  packed3 = $T[$B,$M,$N] get-tuple-element(loop), index=1
  packed = $RESULT reshape(packed3)
  taus2 = $T[$B,$K] get-tuple-element(loop), index=2
  taus = $TAUS reshape(taus2)
  ROOT result = ($RESULT, $TAUS) tuple(packed, taus)
}}
"""

# A rotation for every i makes (tl, tr, br)[i, i] diagonal; all of them are applied at once.
_EIGH = (
    """HloModule eigh
add {
  x = $T[] parameter(0)
  y = $T[] parameter(1)
  ROOT sum = $T[] add(x, y)
}
step {
  state = (s32[], $A, $A, $A, $A, $A, $A, $A, $A) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  a_tl = $A get-tuple-element(state), index=1
  a_tr = $A get-tuple-element(state), index=2
  a_bl = $A get-tuple-element(state), index=3
  a_br = $A get-tuple-element(state), index=4
  z_tl = $A get-tuple-element(state), index=5
  z_tr = $A get-tuple-element(state), index=6
  z_bl = $A get-tuple-element(state), index=7
  z_br = $A get-tuple-element(state), index=8
  zero = $T[] constant(0)
  one = $T[] constant(1)
  two = $T[] constant(2)
  tiny = $T[] constant(1e-8)
  zeros = $T[$N] broadcast(zero), dimensions={}
  ones = $T[$N] broadcast(one), dimensions={}
  twos = $T[$N] broadcast(two), dimensions={}
  tinies = $T[$N] broadcast(tiny), dimensions={}
  zeros_nn = $A broadcast(zero), dimensions={}
  row = s32[$N,$N] iota(), iota_dimension=0
  column = s32[$N,$N] iota(), iota_dimension=1
  is_diagonal = pred[$N,$N] compare(row, column), direction=EQ
  only_tl = $A select(is_diagonal, a_tl, zeros_nn)
  p = $T[$N] reduce(only_tl, zero), dimensions={1}, to_apply=add
  only_tr = $A select(is_diagonal, a_tr, zeros_nn)
  q = $T[$N] reduce(only_tr, zero), dimensions={1}, to_apply=add
  only_br = $A select(is_diagonal, a_br, zeros_nn)
  r = $T[$N] reduce(only_br, zero), dimensions={1}, to_apply=add
  p_size = $T[$N] abs(p)
  q_size = $T[$N] abs(q)
  r_size = $T[$N] abs(r)
  smaller = $T[$N] minimum(p_size, r_size)
  limit = $T[$N] multiply(smaller, tinies)
  is_done = pred[$N] compare(q_size, limit), direction=LE
  q_twice = $T[$N] multiply(q, twos)
  q_safe = $T[$N] select(is_done, ones, q_twice)
  gap = $T[$N] subtract(r, p)
  tau = $T[$N] divide(gap, q_safe)
  tau_squared = $T[$N] multiply(tau, tau)
  tau_sum = $T[$N] add(tau_squared, ones)
  root = $T[$N] sqrt(tau_sum)
  is_up = pred[$N] compare(tau, zeros), direction=GE
  root_minus = $T[$N] negate(root)
  root_signed = $T[$N] select(is_up, root, root_minus)
  denominator = $T[$N] add(tau, root_signed)
  tangent = $T[$N] divide(ones, denominator)
  t = $T[$N] select(is_done, zeros, tangent)
  t_squared = $T[$N] multiply(t, t)
  t_sum = $T[$N] add(t_squared, ones)
  c = $T[$N] rsqrt(t_sum)
  s = $T[$N] multiply(t, c)
  t_q = $T[$N] multiply(t, q)
  p_new = $T[$N] subtract(p, t_q)
  r_new = $T[$N] add(r, t_q)
  c_row = $A broadcast(c), dimensions={0}
  s_row = $A broadcast(s), dimensions={0}
  c_column = $A broadcast(c), dimensions={1}
  s_column = $A broadcast(s), dimensions={1}
  p_diagonal = $A broadcast(p_new), dimensions={1}
  r_diagonal = $A broadcast(r_new), dimensions={1}
"""
    + "".join(
        f"""  {out}c_{a} = $A multiply({first}_{a}, {axis_c})
  {out}s_{a} = $A multiply({first}_{b}, {axis_s})
  {out}_{a} = $A subtract({out}c_{a}, {out}s_{a})
  {out}s_{b} = $A multiply({first}_{a}, {axis_s})
  {out}c_{b} = $A multiply({first}_{b}, {axis_c})
  {out}_{b} = $A add({out}s_{b}, {out}c_{b})
"""
        for out, first, pairs, axis_c, axis_s in (
            ("x", "a", (("tl", "bl"), ("tr", "br")), "c_row", "s_row"),
            ("y", "x", (("tl", "tr"), ("bl", "br")), "c_column", "s_column"),
            ("v", "z", (("tl", "bl"), ("tr", "br")), "c_row", "s_row"),
        )
        for a, b in pairs
    )
    + """  w_tl = $A select(is_diagonal, p_diagonal, y_tl)
  w_tr = $A select(is_diagonal, zeros_nn, y_tr)
  w_bl = $A select(is_diagonal, zeros_nn, y_bl)
  w_br = $A select(is_diagonal, r_diagonal, y_br)
$PERMUTED$PERMUTED_VECTORS  one_s32 = s32[] constant(1)
  next_k = s32[] add(k, one_s32)
  ROOT next = (s32[], $A, $A, $A, $A, $A, $A, $A, $A) tuple(next_k, c_tl, c_tr, c_bl, c_br, u_tl, u_tr, u_bl, u_br)
}
continues {
  state = (s32[], $A, $A, $A, $A, $A, $A, $A, $A) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  count = s32[] constant($STEPS)
  ROOT goes_on = pred[] compare(k, count), direction=LT
}
ENTRY block {
  tl = $A parameter(0)
  tr = $A parameter(1)
  bl = $A parameter(2)
  br = $A parameter(3)
  row = s32[$N,$N] iota(), iota_dimension=0
  column = s32[$N,$N] iota(), iota_dimension=1
  is_diagonal = pred[$N,$N] compare(row, column), direction=EQ
  identity = $A convert(is_diagonal)
  zero = $T[] constant(0)
  zeros = $A broadcast(zero), dimensions={}
  zero_s32 = s32[] constant(0)
  start = (s32[], $A, $A, $A, $A, $A, $A, $A, $A) tuple(zero_s32, tl, tr, bl, br, identity, zeros, zeros, identity)
  loop = (s32[], $A, $A, $A, $A, $A, $A, $A, $A) while(start), condition=continues, body=step
  end_tl = $A get-tuple-element(loop), index=1
  end_br = $A get-tuple-element(loop), index=4
  only_tl = $A select(is_diagonal, end_tl, zeros)
  upper = $T[$N] reduce(only_tl, zero), dimensions={1}, to_apply=add
  only_br = $A select(is_diagonal, end_br, zeros)
  lower = $T[$N] reduce(only_br, zero), dimensions={1}, to_apply=add
  v_tl = $A get-tuple-element(loop), index=5
  v_tr = $A get-tuple-element(loop), index=6
  v_bl = $A get-tuple-element(loop), index=7
  v_br = $A get-tuple-element(loop), index=8
  ROOT result = ($T[$N], $T[$N], $A, $A, $A, $A) tuple(upper, lower, v_tl, v_tr, v_bl, v_br)
}
"""
)
