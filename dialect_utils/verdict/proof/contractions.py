"""The order of the operands of a dot, and of the dimensions that its batch, rows, columns and sum are joined from.

Dots that differ in these orders alone become one term, and so do reductions. For example, a sum over dimensions 4 and 2
of an array becomes one over 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from dialect_utils.layout import Reshape, Step, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.proof.terms import Moved, Term, Terms
from dialect_utils.verdict.rules import Rule

DOT = Rule("dot", "A dot sums products of pairs: the order of its dimensions, and of its operands, is movement.")
WIDER = Rule(
    "wider-dot", "The engine chooses the precision of a dot: that of its operands converted to the type of its sum."
)
AS_SUM = Rule("dot-as-sum", "A dot is a sum of elementwise products, which the engine may round.")
INITIAL_ZERO = Rule(
    "initial-zero", "The engine chooses whether a sum of one element adds its initial 0, or is the element."
)
# A step that gives the dimensions of a dot another order.
DOT_ORDER = "dot-order"
# A step that gives the dimensions of a reduction another order.
REDUCTION_ORDER = "reduction-order"


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of a dimension of the array that a chain of movement begins with: (index // stride) % size."""

    dimension: int
    stride: int
    size: int

    @property
    def place(self) -> tuple[int, int]:
        """Returns a key that sorts parts as the array has them, most major first."""
        return self.dimension, -self.stride


def _regrouped(atoms: Sequence[_Atom], sizes: Sequence[int]) -> list[list[_Atom]] | None:
    """Returns the parts of each dimension of a reshape; None where it cuts one into parts that are no factors."""
    rest = list(reversed(atoms))
    groups: list[list[_Atom]] = []
    for size in sizes:
        group: list[_Atom] = []
        while size > 1:
            atom = rest.pop()
            if size % atom.size == 0:
                size //= atom.size
            elif atom.size % size == 0:
                lower = atom.size // size
                rest.append(_Atom(atom.dimension, atom.stride, lower))
                atom, size = _Atom(atom.dimension, atom.stride * lower, size), 1
            else:
                return None
            group.append(atom)
        groups.append(group)
    return groups


def _atoms(plan: Plan) -> list[list[_Atom]] | None:
    """Returns the parts of each dimension of a plan's result; only transposes and reshapes at its end count."""
    start = next((i for i in range(len(plan.steps), 0, -1) if not _keeps_elements(plan.steps[i - 1])), 0)
    found: list[list[_Atom]] | None = [
        [_Atom(i, 1, size)] if size > 1 else [] for i, size in enumerate(plan.stages[start][1])
    ]
    for step, (_, sizes) in zip(plan.steps[start:], plan.stages[start + 1 :], strict=True):
        if found is not None and step.order is not None:
            found = [found[i] for i in step.order]
        elif found is not None:
            found = _regrouped([atom for group in found for atom in group], sizes)
    return found


def _keeps_elements(step: Step) -> bool:
    """Is true for a transpose and for a reshape."""
    return step.order is not None or step.opcode == "reshape"


def _refined(atoms: Sequence[_Atom], sizes: Sequence[int]) -> list[_Atom] | None:
    """Returns the parts of one dimension, cut where another operand cuts it, too."""
    ends = {1}
    for part in (sizes, [atom.size for atom in atoms]):
        ends |= {prod(part[i:]) for i in range(len(part))}
    cuts = sorted(ends, reverse=True)
    if any(whole % part for whole, part in pairwise(cuts)):
        return None
    groups = _regrouped(atoms, [whole // part for whole, part in pairwise(cuts)])
    return None if groups is None else [atom for group in groups for atom in group]


# A new order of the parts that a dimension is joined from: their sizes, and the order.
_Order = tuple[tuple[int, ...], tuple[int, ...]]


def _order(atoms: Sequence[_Atom]) -> _Order:
    """Returns the order in which an array has the parts."""
    order = sorted(range(len(atoms)), key=lambda i: atoms[i].place)
    return tuple(atom.size for atom in atoms), tuple(order)


def _steps(sizes: tuple[int, ...], orders: Sequence[_Order]) -> tuple[Step, ...]:
    """Returns the movement that gives each dimension the new order of its parts."""
    fine: list[int] = []
    permutation: list[int] = []
    for parts, order in orders:
        permutation += [len(fine) + i for i in order]
        fine += parts
    if permutation == sorted(permutation):
        return ()
    return Reshape(tuple(fine)), Transpose(tuple(permutation)), Reshape(sizes)


def _inverse(order: _Order) -> _Order:
    sizes, permutation = order
    return tuple(sizes[i] for i in permutation), tuple(sorted(range(len(sizes)), key=permutation.__getitem__))


@dataclass(frozen=True, slots=True)
class DotOrder:
    """The movement of both operands of a dot, and of its result, that gives its dimensions their order."""

    left: tuple[Step, ...]
    right: tuple[Step, ...]
    result: tuple[Step, ...]


def dot_order(terms: Terms, left: Term, right: Term, *, is_sum: bool) -> DotOrder:
    """Returns the order of the arrays that the operands of a dot are made of; the left one decides for both.

    With `is_sum` it is that of the sum, which rounds in another way; else that of the other dimensions.
    """
    (batch, rows, summed), columns = left.array.dimensions, right.array.dimensions[1]
    first, second = (_atoms(_source(terms, each).plan) for each in (left, right))
    nothing: _Order = ((), ())
    orders = {"batch": nothing, "rows": nothing, "columns": nothing, "summed": nothing}
    if first is not None:
        orders["rows"] = _order(first[1])
    if second is not None:
        orders["columns"] = _order(second[1])
    for i, name in ((0, "batch"), (2, "summed")):
        parts = None if first is None or second is None else _refined(first[i], [atom.size for atom in second[i]])
        orders[name] = nothing if parts is None else _order(parts)
    for name, size in (("batch", batch), ("rows", rows), ("columns", columns), ("summed", summed)):
        if prod(orders[name][0]) != size or (name == "summed") != is_sum:
            orders[name] = ((size,), (0,)) if size > 1 else nothing
    return DotOrder(
        _steps((batch, rows, summed), [orders[each] for each in ("batch", "rows", "summed")]),
        _steps((batch, columns, summed), [orders[each] for each in ("batch", "columns", "summed")]),
        _steps((batch, rows, columns), [_inverse(orders[each]) for each in ("batch", "rows", "columns")]),
    )


def reduction_order(terms: Terms, array: Term, *, is_sum: bool) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Returns the movement of an array [kept, reduced], and of its reduction, that gives the dimensions their order.

    With `is_sum` it is the order of what is reduced, else of what is kept.
    """
    sizes, found = array.array.dimensions, _atoms(_source(terms, array).plan)
    if found is None:
        return (), ()
    orders = [*map(_order, found)]
    kept = int(not is_sum)
    orders[kept] = orders[kept][0], tuple(range(len(orders[kept][0])))
    return _steps(sizes, orders), _steps(sizes[:1], [_inverse(orders[0])])


# An elementwise operation has the order of the operand that was made first.


def _source(terms: Terms, term: Term) -> Moved:
    """Returns the movement that gives a term the order of its dimensions."""
    while term.kind in ("each", "choice"):
        operands = [each for each in term.operands[term.kind == "choice" :] if each.kind != "splat"]
        if not operands:
            break
        term = min(operands, key=lambda each: anchor(terms, each))
    return terms.chain(term)


def anchor(terms: Terms, term: Term) -> int:
    """Returns a number that does not depend on the movement of a term; equal expressions have the same one."""
    pending = [term]
    while pending:
        part = pending[-1]
        needed = _compared(part)
        missing = [each for each in needed if each not in terms.anchors]
        if not missing:
            pending.pop()
            terms.anchors[part] = _found(terms, part, [terms.anchors[each] for each in needed])
        pending += missing
    return terms.anchors[term]


def _compared(term: Term) -> Sequence[Term]:
    if term.kind in ("moved", "splat"):
        return term.operands[:1]
    return term.operands if term.kind == "each" else ()


def _found(terms: Terms, term: Term, operands: Sequence[int]) -> int:
    if term.kind in ("moved", "splat"):
        return operands[0]
    if term.kind != "each":
        return term.number
    return terms.expressions.setdefault((term.label, term.array.element_type, *sorted(operands)), term.number)
