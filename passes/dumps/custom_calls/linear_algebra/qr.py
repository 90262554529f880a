"""The reflectors of a block."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape
from passes.dumps.custom_calls.linear_algebra.templates import ADD, COUNTS_COLUMNS, conjugate, filled, shape_text


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
# a - conj(tau) v v^H a. Nothing is to be done where all but Re alpha is 0.
_STATE = "(s32[], $T[$B,$M,$N], $T[$B,$K])"
_ADD_REAL = ADD.replace("add {", "add_real {").replace("$T", "$R")
_QR = f"""HloModule qr
{_ADD_REAL}{ADD}step {{
  state = {_STATE} parameter(0)
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
  ROOT next = {_STATE} tuple(next_k, new_a, new_taus)
}}
{COUNTS_COLUMNS.replace("$STATE", _STATE)}ENTRY block {{
  a = $A parameter(0)
  matrix = $T[$B,$M,$N] reshape(a)
  zero_s32 = s32[] constant(0)
  zero = $T[] constant($ZERO)
  no_taus = $T[$B,$K] broadcast(zero), dimensions={{}}
  start = {_STATE} tuple(zero_s32, matrix, no_taus)
  loop = {_STATE} while(start), condition=continues, body=step
  packed3 = $T[$B,$M,$N] get-tuple-element(loop), index=1
  packed = $RESULT reshape(packed3)
  taus2 = $T[$B,$K] get-tuple-element(loop), index=2
  taus = $TAUS reshape(taus2)
  ROOT result = ($RESULT, $TAUS) tuple(packed, taus)
}}
"""
