"""Eigenvalues and eigenvectors of a symmetric matrix by rotations."""

from __future__ import annotations

from math import prod

from dialect_utils.layout import ArrayShape
from passes.dumps.custom_calls.templates import ADD, filled, shape_text


def eigh(a: ArrayShape) -> str:
    """Returns `EighTpu`: eigenvalues and eigenvectors of symmetric matrices given as four blocks a[..., n, n].

    The results are the eigenvalues of the upper and lower half, and the four blocks of a matrix whose rows are the
    eigenvectors. The algorithm is Jacobi's method in Brent and Luk's parallel order, as in XLA's eigh_expander.
    """
    *batch, _, n = a.dimensions
    kind = a.element_type.name
    return filled(
        _EIGH,
        a,
        C=f"{kind}[{prod(batch)},{n},{n}]",
        VALUES=shape_text(kind, batch, n),
        STEPS=_SWEEPS * (2 * n - 1),
        **_tournament(kind, prod(batch), n),
    )


# Jacobi's method converges quadratically: f32 needs six to eight sweeps up to n = 256.
_SWEEPS = 10


def _tournament(kind: str, batch: int, n: int) -> dict[str, str]:
    """Returns the lines that move every index but the first to its next partner."""
    whole = (batch, n, n)
    rows = _exchange("r", (("tl", "bl"), ("tr", "br")), kind, whole, dim=1, source="w")
    columns = _exchange("c", (("tl", "tr"), ("bl", "br")), kind, whole, dim=2, source="r")
    vectors = _exchange("u", (("tl", "bl"), ("tr", "br")), kind, whole, dim=1, source="v")
    return {"PERMUTED": "".join(rows + columns), "PERMUTED_VECTORS": "".join(vectors)}


def _exchange(
    name: str, pairs: tuple[tuple[str, str], ...], kind: str, whole: tuple[int, ...], dim: int, source: str
) -> list[str]:
    shape, n = shape_text(kind, whole), whole[dim]
    if n == 1:
        return [f"  {name}_{block} = {shape} copy({source}_{block})\n" for pair in pairs for block in pair]
    lines = []
    for first, second in pairs:
        parts = {
            f"{name}_{first}_0": (f"{source}_{first}", 0, 1),
            f"{name}_{first}_1": (f"{source}_{second}", 0, 1),
            f"{name}_{first}_2": (f"{source}_{first}", 1, n - 1),
            f"{name}_{second}_0": (f"{source}_{second}", 1, n),
            f"{name}_{second}_1": (f"{source}_{first}", n - 1, n),
        }
        lines += [f"  {part} = {_sliced(kind, whole, dim, *taken)}\n" for part, taken in parts.items()]
        for block, count in ((first, 3), (second, 2)):
            taken = ", ".join(f"{name}_{block}_{i}" for i in range(count))
            lines.append(f"  {name}_{block} = {shape} concatenate({taken}), dimensions={{{dim}}}\n")
    return lines


def _sliced(kind: str, whole: tuple[int, ...], dim: int, value: str, start: int, limit: int) -> str:
    bounds = [(start, limit) if i == dim else (0, size) for i, size in enumerate(whole)]
    shape = shape_text(kind, [high - low for low, high in bounds])
    return f"{shape} slice({value}), slice={{{', '.join(f'[{low}:{high}]' for low, high in bounds)}}}"


# A rotation for every i makes (tl, tr, br)[i, i] diagonal; all of them are applied at once.
_EIGH = (
    f"""HloModule eigh
{ADD}"""
    """step {
  state = (s32[], $C, $C, $C, $C, $C, $C, $C, $C) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  a_tl = $C get-tuple-element(state), index=1
  a_tr = $C get-tuple-element(state), index=2
  a_bl = $C get-tuple-element(state), index=3
  a_br = $C get-tuple-element(state), index=4
  z_tl = $C get-tuple-element(state), index=5
  z_tr = $C get-tuple-element(state), index=6
  z_bl = $C get-tuple-element(state), index=7
  z_br = $C get-tuple-element(state), index=8
  zero = $T[] constant(0)
  one = $T[] constant(1)
  two = $T[] constant(2)
  tiny = $T[] constant(1e-8)
  zeros = $T[$B,$N] broadcast(zero), dimensions={}
  ones = $T[$B,$N] broadcast(one), dimensions={}
  twos = $T[$B,$N] broadcast(two), dimensions={}
  tinies = $T[$B,$N] broadcast(tiny), dimensions={}
  zeros_nn = $C broadcast(zero), dimensions={}
  row = s32[$B,$N,$N] iota(), iota_dimension=1
  column = s32[$B,$N,$N] iota(), iota_dimension=2
  is_diagonal = pred[$B,$N,$N] compare(row, column), direction=EQ
  only_tl = $C select(is_diagonal, a_tl, zeros_nn)
  p = $T[$B,$N] reduce(only_tl, zero), dimensions={2}, to_apply=add
  only_tr = $C select(is_diagonal, a_tr, zeros_nn)
  q = $T[$B,$N] reduce(only_tr, zero), dimensions={2}, to_apply=add
  only_br = $C select(is_diagonal, a_br, zeros_nn)
  r = $T[$B,$N] reduce(only_br, zero), dimensions={2}, to_apply=add
  p_size = $T[$B,$N] abs(p)
  q_size = $T[$B,$N] abs(q)
  r_size = $T[$B,$N] abs(r)
  smaller = $T[$B,$N] minimum(p_size, r_size)
  limit = $T[$B,$N] multiply(smaller, tinies)
  is_done = pred[$B,$N] compare(q_size, limit), direction=LE
  q_twice = $T[$B,$N] multiply(q, twos)
  q_safe = $T[$B,$N] select(is_done, ones, q_twice)
  gap = $T[$B,$N] subtract(r, p)
  tau = $T[$B,$N] divide(gap, q_safe)
  tau_squared = $T[$B,$N] multiply(tau, tau)
  tau_sum = $T[$B,$N] add(tau_squared, ones)
  root = $T[$B,$N] sqrt(tau_sum)
  is_up = pred[$B,$N] compare(tau, zeros), direction=GE
  root_minus = $T[$B,$N] negate(root)
  root_signed = $T[$B,$N] select(is_up, root, root_minus)
  denominator = $T[$B,$N] add(tau, root_signed)
  tangent = $T[$B,$N] divide(ones, denominator)
  t = $T[$B,$N] select(is_done, zeros, tangent)
  t_squared = $T[$B,$N] multiply(t, t)
  t_sum = $T[$B,$N] add(t_squared, ones)
  c = $T[$B,$N] rsqrt(t_sum)
  s = $T[$B,$N] multiply(t, c)
  t_q = $T[$B,$N] multiply(t, q)
  p_new = $T[$B,$N] subtract(p, t_q)
  r_new = $T[$B,$N] add(r, t_q)
  c_row = $C broadcast(c), dimensions={0,1}
  s_row = $C broadcast(s), dimensions={0,1}
  c_column = $C broadcast(c), dimensions={0,2}
  s_column = $C broadcast(s), dimensions={0,2}
  p_diagonal = $C broadcast(p_new), dimensions={0,2}
  r_diagonal = $C broadcast(r_new), dimensions={0,2}
"""
    + "".join(
        f"""  {out}c_{a} = $C multiply({first}_{a}, {axis_c})
  {out}s_{a} = $C multiply({first}_{b}, {axis_s})
  {out}_{a} = $C subtract({out}c_{a}, {out}s_{a})
  {out}s_{b} = $C multiply({first}_{a}, {axis_s})
  {out}c_{b} = $C multiply({first}_{b}, {axis_c})
  {out}_{b} = $C add({out}s_{b}, {out}c_{b})
"""
        for out, first, pairs, axis_c, axis_s in (
            ("x", "a", (("tl", "bl"), ("tr", "br")), "c_row", "s_row"),
            ("y", "x", (("tl", "tr"), ("bl", "br")), "c_column", "s_column"),
            ("v", "z", (("tl", "bl"), ("tr", "br")), "c_row", "s_row"),
        )
        for a, b in pairs
    )
    + """  w_tl = $C select(is_diagonal, p_diagonal, y_tl)
  w_tr = $C select(is_diagonal, zeros_nn, y_tr)
  w_bl = $C select(is_diagonal, zeros_nn, y_bl)
  w_br = $C select(is_diagonal, r_diagonal, y_br)
$PERMUTED$PERMUTED_VECTORS  one_s32 = s32[] constant(1)
  next_k = s32[] add(k, one_s32)
  ROOT next = (s32[], $C, $C, $C, $C, $C, $C, $C, $C) tuple(next_k, c_tl, c_tr, c_bl, c_br, u_tl, u_tr, u_bl, u_br)
}
continues {
  state = (s32[], $C, $C, $C, $C, $C, $C, $C, $C) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  count = s32[] constant($STEPS)
  ROOT goes_on = pred[] compare(k, count), direction=LT
}
ENTRY block {
  tl_given = $A parameter(0)
  tl = $C reshape(tl_given)
  tr_given = $A parameter(1)
  tr = $C reshape(tr_given)
  bl_given = $A parameter(2)
  bl = $C reshape(bl_given)
  br_given = $A parameter(3)
  br = $C reshape(br_given)
  row = s32[$B,$N,$N] iota(), iota_dimension=1
  column = s32[$B,$N,$N] iota(), iota_dimension=2
  is_diagonal = pred[$B,$N,$N] compare(row, column), direction=EQ
  identity = $C convert(is_diagonal)
  zero = $T[] constant(0)
  zeros = $C broadcast(zero), dimensions={}
  zero_s32 = s32[] constant(0)
  start = (s32[], $C, $C, $C, $C, $C, $C, $C, $C) tuple(zero_s32, tl, tr, bl, br, identity, zeros, zeros, identity)
  loop = (s32[], $C, $C, $C, $C, $C, $C, $C, $C) while(start), condition=continues, body=step
  end_tl = $C get-tuple-element(loop), index=1
  end_br = $C get-tuple-element(loop), index=4
  only_tl = $C select(is_diagonal, end_tl, zeros)
  upper = $T[$B,$N] reduce(only_tl, zero), dimensions={2}, to_apply=add
  only_br = $C select(is_diagonal, end_br, zeros)
  lower = $T[$B,$N] reduce(only_br, zero), dimensions={2}, to_apply=add
  v_tl = $C get-tuple-element(loop), index=5
  v_tr = $C get-tuple-element(loop), index=6
  v_bl = $C get-tuple-element(loop), index=7
  v_br = $C get-tuple-element(loop), index=8
  upper_given = $VALUES reshape(upper)
  lower_given = $VALUES reshape(lower)
  v_tl_given = $A reshape(v_tl)
  v_tr_given = $A reshape(v_tr)
  v_bl_given = $A reshape(v_bl)
  v_br_given = $A reshape(v_br)
  ROOT result = ($VALUES, $VALUES, $A, $A, $A, $A)
    tuple(upper_given, lower_given, v_tl_given, v_tr_given, v_bl_given, v_br_given)
}
"""
)
