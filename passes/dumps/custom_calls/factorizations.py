"""The LU and QR factors of a block."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape
from passes.dumps.custom_calls.templates import ADD, COUNTS_COLUMNS, conjugate, filled, shape_text


def lu(a: ArrayShape) -> str:
    """Returns `LuRealDecompositionBlock` or `LuComplex...`: packed factors, pivots and row order of a[..., m, n]."""
    *batch, rows, columns = a.dimensions
    template = _LU.replace("$MAGNITUDE", _SIZES if a.element_type.is_complex else _SIZE)
    return filled(
        template,
        a,
        RESULT=shape_text(a.element_type.name, batch, rows, columns),
        PIVOTS=shape_text("s32", batch, min(rows, columns)),
        PERMUTATION=shape_text("s32", batch, rows),
    )


_SIZE = "  magnitude = $R[$B,$M] abs(column)\n"
# LAPACK and JAX choose the pivot of complex numbers by |re| + |im|.
_SIZES = """  re = $R[$B,$M] real(column)
  im = $R[$B,$M] imag(column)
  re_size = $R[$B,$M] abs(re)
  im_size = $R[$B,$M] abs(im)
  magnitude = $R[$B,$M] add(re_size, im_size)
"""

_LU_STATE = "(s32[], $T[$B,$M,$N], s32[$B,$K], s32[$B,$M])"
# Exchanges rows k and p, then divides column k and subtracts the outer product.
_LU = f"""HloModule lu
{ADD}add_s32 {{
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT sum = s32[] add(x, y)
}}
first_largest {{
  x = $R[] parameter(0)
  i = s32[] parameter(1)
  y = $R[] parameter(2)
  j = s32[] parameter(3)
  x_is_larger = pred[] compare(x, y), direction=GT
  x_is_nan = pred[] compare(x, x), direction=NE
  x_wins = pred[] or(x_is_larger, x_is_nan)
  equal = pred[] compare(x, y), direction=EQ
  i_is_first = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, i_is_first)
  take_x = pred[] or(x_wins, tie)
  value = $R[] select(take_x, x, y)
  index = s32[] select(take_x, i, j)
  ROOT pair = ($R[], s32[]) tuple(value, index)
}}
step {{
  state = {_LU_STATE} parameter(0)
  k = s32[] get-tuple-element(state), index=0
  a = $T[$B,$M,$N] get-tuple-element(state), index=1
  pivots = s32[$B,$K] get-tuple-element(state), index=2
  permutation = s32[$B,$M] get-tuple-element(state), index=3
  one_s32 = s32[] constant(1)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant($ZERO)
  minus_one = $R[] constant(-1)
  zeros_bm = $T[$B,$M] broadcast(zero), dimensions={{}}
  zeros_bmn = $T[$B,$M,$N] broadcast(zero), dimensions={{}}
  rows = s32[$B,$M] iota(), iota_dimension=1
  k_bm = s32[$B,$M] broadcast(k), dimensions={{}}
  column3 = $T[$B,$M,1] dynamic-slice(a, zero_s32, zero_s32, k), dynamic_slice_sizes={{$B,$M,1}}
  column = $T[$B,$M] reshape(column3)
$MAGNITUDE  is_candidate = pred[$B,$M] compare(rows, k_bm), direction=GE
  excluded = $R[$B,$M] broadcast(minus_one), dimensions={{}}
  candidates = $R[$B,$M] select(is_candidate, magnitude, excluded)
  largest = ($R[$B], s32[$B]) reduce(candidates, rows, minus_one, zero_s32), dimensions={{1}}, to_apply=first_largest
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
  ROOT next = {_LU_STATE} tuple(next_k, new_a, new_pivots, new_permutation)
}}
{COUNTS_COLUMNS.replace("$STATE", _LU_STATE)}ENTRY block {{
  a = $A parameter(0)
  matrix = $T[$B,$M,$N] reshape(a)
  zero_s32 = s32[] constant(0)
  no_pivots = s32[$B,$K] broadcast(zero_s32), dimensions={{}}
  identity = s32[$B,$M] iota(), iota_dimension=1
  start = {_LU_STATE} tuple(zero_s32, matrix, no_pivots, identity)
  loop = {_LU_STATE} while(start), condition=continues, body=step
  factors3 = $T[$B,$M,$N] get-tuple-element(loop), index=1
  factors = $RESULT reshape(factors3)
  pivots2 = s32[$B,$K] get-tuple-element(loop), index=2
  pivots = $PIVOTS reshape(pivots2)
  permutation2 = s32[$B,$M] get-tuple-element(loop), index=3
  permutation = $PERMUTATION reshape(permutation2)
  ROOT result = ($RESULT, $PIVOTS, $PERMUTATION) tuple(factors, pivots, permutation)
}}
"""


def qr(a: ArrayShape) -> str:
    """Returns `QrDecompositionBlock`: R above packed reflectors, and their scales, of a[..., m, n]."""
    *batch, rows, columns = a.dimensions
    template = _QR
    for name, value, dims in (("v_conj", "v", "$B,$M"), ("tau_conj", "tau", "$B"), ("tail_conj", "tail", "$B,$M")):
        template = template.replace(f"${name.upper()}", conjugate(a, name, value, dims))
    return filled(
        template,
        a,
        RESULT=shape_text(a.element_type.name, batch, rows, columns),
        TAUS=shape_text(a.element_type.name, batch, min(rows, columns)),
    )


# LAPACK's reflector: beta = -sign(Re alpha) |x|, tau = (beta - alpha) / beta, v = x / (alpha - beta), and a becomes
# a - conj(tau) v v^H a. It is the identity if all but Re alpha is 0.
_QR_STATE = "(s32[], $T[$B,$M,$N], $T[$B,$K])"
_ADD_REAL = ADD.replace("add {", "add_real {").replace("$T", "$R")
_QR = f"""HloModule qr
{_ADD_REAL}{ADD}step {{
  state = {_QR_STATE} parameter(0)
  k = s32[] get-tuple-element(state), index=0
  a = $T[$B,$M,$N] get-tuple-element(state), index=1
  taus = $T[$B,$K] get-tuple-element(state), index=2
  one_s32 = s32[] constant(1)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant($ZERO)
  zero_real = $R[] constant(0)
  one = $T[] constant($ONE)
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
$TAIL_CONJ  tail_product = $T[$B,$M] multiply(tail, tail_conj)
  tail_squared = $R[$B,$M] real(tail_product)
  sigma = $R[$B] reduce(tail_squared, zero_real), dimensions={{1}}, to_apply=add_real
  alpha3 = $T[$B,1,1] dynamic-slice(a, zero_s32, k, k), dynamic_slice_sizes={{$B,1,1}}
  alpha = $T[$B] reshape(alpha3)
  alpha_re = $R[$B] real(alpha)
  alpha_im = $R[$B] imag(alpha)
  re_squared = $R[$B] multiply(alpha_re, alpha_re)
  im_squared = $R[$B] multiply(alpha_im, alpha_im)
  rest_squared = $R[$B] add(sigma, im_squared)
  norm_squared = $R[$B] add(re_squared, rest_squared)
  norm = $R[$B] sqrt(norm_squared)
  minus_norm = $R[$B] negate(norm)
  zeros_real = $R[$B] broadcast(zero_real), dimensions={{}}
  alpha_is_negative = pred[$B] compare(alpha_re, zeros_real), direction=LT
  reflected = $R[$B] select(alpha_is_negative, norm, minus_norm)
  is_done = pred[$B] compare(rest_squared, zeros_real), direction=EQ
  beta_real = $R[$B] select(is_done, alpha_re, reflected)
  beta = $T[$B] convert(beta_real)
  difference = $T[$B] subtract(beta, alpha)
  scale = $T[$B] divide(difference, beta)
  tau = $T[$B] select(is_done, zeros_b, scale)
  alpha_minus_beta = $T[$B] subtract(alpha, beta)
  divisor = $T[$B] select(is_done, ones_b, alpha_minus_beta)
  divisor_bm = $T[$B,$M] broadcast(divisor), dimensions={{0}}
  v_tail = $T[$B,$M] divide(tail, divisor_bm)
  v = $T[$B,$M] select(is_k, ones_bm, v_tail)
$V_CONJ  v_conj_bmn = $T[$B,$M,$N] broadcast(v_conj), dimensions={{0,1}}
  v_bmn = $T[$B,$M,$N] broadcast(v), dimensions={{0,1}}
  weighted = $T[$B,$M,$N] multiply(v_conj_bmn, a)
  projection = $T[$B,$N] reduce(weighted, zero), dimensions={{1}}, to_apply=add
$TAU_CONJ  tau_bn = $T[$B,$N] broadcast(tau_conj), dimensions={{0}}
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
  ROOT next = {_QR_STATE} tuple(next_k, new_a, new_taus)
}}
{COUNTS_COLUMNS.replace("$STATE", _QR_STATE)}ENTRY block {{
  a = $A parameter(0)
  matrix = $T[$B,$M,$N] reshape(a)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant($ZERO)
  no_taus = $T[$B,$K] broadcast(zero), dimensions={{}}
  start = {_QR_STATE} tuple(zero_s32, matrix, no_taus)
  loop = {_QR_STATE} while(start), condition=continues, body=step
  packed3 = $T[$B,$M,$N] get-tuple-element(loop), index=1
  packed = $RESULT reshape(packed3)
  taus2 = $T[$B,$K] get-tuple-element(loop), index=2
  taus = $TAUS reshape(taus2)
  ROOT result = ($RESULT, $TAUS) tuple(packed, taus)
}}
"""
