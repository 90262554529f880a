"""Normal orders of dots and reductions: of operands, and of the dimensions joined into batch, rows, columns and sum.

Dots and reductions that differ only in these orders become one term. For example, a sum over dimensions 4 and 2
of an array becomes one over 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from dialect_utils.layout import Reshape, Step, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.verdict.proof.parts import Atom, atoms_of, regrouped
from dialect_utils.verdict.proof.sources import source_of
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.rules import Rule

DOT = Rule("dot", "A dot sums products of pairs: the order of its dimensions, and of its operands, is movement.")
AS_SUM = Rule("dot-as-sum", "A dot is a sum of elementwise products, which the engine may round.")
BATCH_SUM = Rule("batch-sum", "A sum over a part of a dot's batch is the dot that sums these products, too.")
# A step that reorders the dimensions of a dot.
DOT_ORDER = "dot-order"
# A step that reorders the dimensions of a reduction.
REDUCTION_ORDER = "reduction-order"


def _refined(atoms: Sequence[Atom], sizes: Sequence[int]) -> list[Atom] | None:
    """Returns the parts of one dimension, split also at the boundaries `sizes` of the other operand."""
    ends = {1}
    for part in (sizes, [atom.size for atom in atoms]):
        ends |= {prod(part[i:]) for i in range(len(part))}
    cuts = sorted(ends, reverse=True)
    if any(whole % part for whole, part in pairwise(cuts)):
        return None
    groups = regrouped(atoms, [whole // part for whole, part in pairwise(cuts)])
    return None if groups is None else [atom for group in groups for atom in group]


# The sizes of the parts that a dimension is joined from, and a permutation of the parts.
Order = tuple[tuple[int, ...], tuple[int, ...]]


def _order(atoms: Sequence[Atom]) -> Order:
    """Returns the permutation that sorts parts as in the source array."""
    order = sorted(range(len(atoms)), key=lambda i: atoms[i].place)
    return tuple(atom.size for atom in atoms), tuple(order)


def _steps(sizes: tuple[int, ...], orders: Sequence[Order]) -> tuple[Step, ...]:
    """Returns the reshape, transpose and reshape that permute the parts of each dimension."""
    fine: list[int] = []
    permutation: list[int] = []
    for parts, order in orders:
        permutation += [len(fine) + i for i in order]
        fine += parts
    if permutation == sorted(permutation):
        return ()
    return Reshape(tuple(fine)), Transpose(tuple(permutation)), Reshape(sizes)


def _inverse(order: Order) -> Order:
    sizes, permutation = order
    return tuple(sizes[i] for i in permutation), inverse_permutation(permutation)


Steps = tuple[Step, ...]


def dot_order(terms: Terms, left: Term, right: Term, *, is_sum: bool) -> tuple[Steps, Steps, Steps]:
    """Returns the movement of a dot's operands and result that sorts dimensions as in the operands' source arrays.

    The left operand decides shared dimensions.
    With `is_sum` only the summed dimension is sorted, which may change the rounding; else only the other dimensions.
    """
    (batch, rows, summed), columns = left.array.dimensions, right.array.dimensions[1]
    first, second = (atoms_of(source_of(terms, each).plan) for each in (left, right))
    nothing: Order = ((), ())
    sizes = {"batch": batch, "rows": rows, "columns": columns, "summed": summed}
    orders = dict.fromkeys(sizes, nothing)
    if first is not None:
        orders["rows"] = _order(first[1])
    if second is not None:
        orders["columns"] = _order(second[1])
    for i, name in ((0, "batch"), (2, "summed")):
        parts = None if first is None or second is None else _refined(first[i], [atom.size for atom in second[i]])
        orders[name] = nothing if parts is None else _order(parts)
    for name, size in sizes.items():
        if prod(orders[name][0]) != size or (name == "summed") != is_sum:
            orders[name] = ((size,), (0,)) if size > 1 else nothing
    return (
        _steps((batch, rows, summed), [orders[each] for each in ("batch", "rows", "summed")]),
        _steps((batch, columns, summed), [orders[each] for each in ("batch", "columns", "summed")]),
        _steps((batch, rows, columns), [_inverse(orders[each]) for each in ("batch", "rows", "columns")]),
    )


def reduction_order(terms: Terms, array: Term, *, is_sum: bool) -> tuple[Steps, Steps]:
    """Returns the movement of an array [kept, reduced] and of its reduction that sorts the parts of a dimension.

    With `is_sum` it sorts the reduced dimension, else the kept one.
    """
    sizes, found = array.array.dimensions, atoms_of(source_of(terms, array).plan)
    if found is None:
        return (), ()
    orders = [*map(_order, found)]
    kept = int(not is_sum)
    orders[kept] = orders[kept][0], tuple(range(len(orders[kept][0])))
    return _steps(sizes, orders), _steps(sizes[:1], [_inverse(orders[0])])


def batch_sum(plan: Plan) -> tuple[int, int, int] | None:
    """Returns the factors of the batch of a dot before, in and after the part that a reduction sums.

    `plan` makes the array [kept, summed] of the dot. Returns None unless one part of the batch is summed, and the rest
    is in the order of the dot.
    """
    found = atoms_of(plan) if all(step.order is not None or step.opcode == "reshape" for step in plan.steps) else None
    if found is None or not found[1] or any(atom.dimension for atom in found[1]):
        return None
    kept, summed = found
    is_sorted = [*kept] == sorted(kept, key=lambda atom: atom.place)
    is_joined = all(a.stride == b.stride * b.size for a, b in pairwise(summed))
    size, inner = prod(atom.size for atom in summed), summed[-1].stride
    outer = plan.dimensions[0] // (size * inner)
    return (outer, size, inner) if is_sorted and is_joined else None


def last_order(terms: Terms, array: Term) -> Order | None:
    """Returns the order of the parts of an array's last dimension; None if the parts are sorted already."""
    found = atoms_of(source_of(terms, array).plan)
    order = None if found is None else _order(found[-1])
    return None if order is None or order[1] == tuple(range(len(order[1]))) else order


def in_last_order(sizes: tuple[int, ...], order: Order) -> tuple[Step, ...]:
    """Returns the movement that permutes the parts of the last dimension of an array."""
    return _steps(sizes, [*(((size,), (0,)) if size > 1 else ((), ()) for size in sizes[:-1]), order])


def out_of_last_order(sizes: tuple[int, ...], order: Order) -> tuple[Step, ...]:
    """Returns the movement that undoes `in_last_order`."""
    return in_last_order(sizes, _inverse(order))
