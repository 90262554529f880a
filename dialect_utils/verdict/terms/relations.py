"""The elements that a combination combines, as isl relations from its indices to indices of other terms.

A relation does not count how often an element is combined. So each element may be combined only once, unless combining
it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import ArrayShape
from dialect_utils.layout.index.positions import Condition
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.layout.proof.enumeration import RELATION_BUDGET
from dialect_utils.layout.proof.reads import read_back
from dialect_utils.ops import Trait, has
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.terms.combinations import (
    bits_of_scalar,
    inner_combinations,
    is_exact,
    kind_of,
    label_of,
    may_repeat,
    neutral,
    operands_of,
    selected_by,
    sizes_of,
)
from dialect_utils.verdict.terms.primitives import Term

if TYPE_CHECKING:
    import islpy as isl

    from dialect_utils.layout.proof.decide import Terms

# The time limit of isl for one comparison, in seconds.
_ISL_SECONDS = 1.0
# The most operations in one expression of elements.
_MOST_OPERATIONS = 60

# An expression of elements: (_BASE, term, number) is an element of a term, at the index that the relation of that
# number gives, or a scalar, whose number is None. (label, type, keys) is an operation on expressions.
Key = tuple[Any, ...]
Parts = dict[Key, "isl.Map"]
_BASE = "base"
# An operand's coordinates as functions of the result's coordinates.
_Make = Callable[[Sequence[Any]], Sequence[Any]]


def try_prove_same_combination(first: Term, second: Term, opcode: str) -> bool:
    """Is true where two terms are proved equal as combinations by an operation, but for the bits of NaN.

    An inexact operation requires that one term is a single combination and the other combines the same elements, which
    is one sum in two orders.
    """
    if is_exact(opcode, kind_of(first)):
        return _combine_same(first, second, opcode, frozenset())
    return any(_combine_same(first, second, opcode, inner_combinations(each, opcode)) for each in (first, second))


def _combine_same(first: Term, second: Term, opcode: str, parts: frozenset[Term]) -> bool:
    """Is true where two terms combine the same elements; terms in `parts` count as whole parts."""
    from dialect_utils.layout.proof.decide import budgets

    if first.shape != second.shape or not isinstance(first.shape, ArrayShape) or 0 in first.shape.dimensions:
        return False
    for budget in budgets(RELATION_BUDGET, _ISL_SECONDS):
        with budget as context:
            relations = _Relations(context, opcode, parts)
            one, other = relations.try_kept(first), relations.try_kept(second)
            if one is None or other is None or one.keys() != other.keys():
                return False
            return all(relation.is_equal(other[key]) for key, relation in one.items())
    return False


class _UnknownError(Exception):
    """Raised where an element may be combined more than once."""


@dataclass(frozen=True, slots=True)
class _Element:
    """The element of a term at each index: an expression over base terms, and the relations to their indices."""

    key: Key
    relations: tuple[isl.Map, ...]


class _Relations:
    """The parts of terms: expressions of elements, each with the relation from a term's indices to those combined."""

    def __init__(self, context: isl.Context, opcode: str, parts: frozenset[Term]) -> None:
        self.context, self.opcode, self.parts = context, opcode, parts
        self._known: dict[Term, Parts] = {}
        self._elements: dict[Term, _Element] = {}
        self._ranks: dict[Key, int] = {}

    def try_kept(self, term: Term) -> Parts | None:
        """Returns the parts of a term without neutral elements; None if one may be combined more than once."""
        try:
            found = self._of(term)
        except _UnknownError:
            return None
        nothing = neutral(self.opcode, kind_of(term))
        return {
            key: relation
            for key, relation in found.items()
            if not relation.is_empty() and (nothing is None or _bits(key) != nothing)
        }

    def _of(self, term: Term) -> Parts:
        if term not in self._known:
            check_deadline()
            self._known[term] = self._made(term)
        return self._known[term]

    def _made(self, term: Term) -> Parts:
        if term in self.parts or operands_of(term, self.opcode) is None:
            return self._part(term)
        found: Parts = {}
        for operand, relation in self._steps(term):
            for key, inner in self._of(operand).items():
                whole, before = relation.apply_range(inner), found.get(key)
                if not (key[0] == _BASE and may_repeat(key[1], self.opcode)) and not has(self.opcode, Trait.IDEMPOTENT):
                    # An element is combined once if only one path leads to it.
                    is_once = relation.reverse().range_product(inner).is_injective()
                    if not is_once or (before is not None and not before.is_disjoint(whole)):
                        raise _UnknownError
                found[key] = (whole if before is None else before.union(whole)).coalesce()
        return found

    # Elements

    def _part(self, term: Term) -> Parts:
        """Returns a term as one part; the operands of a commutative operation are sorted."""
        element = self._element(term)
        key, sizes = element.key, sizes_of(term)
        if key[0] != _BASE and isinstance(key[0], str) and has(key[0], Trait.COMMUTATIVE):
            key = (*key[:2], tuple(sorted(key[2], key=self._rank)))
        order: dict[int, int] = {}
        key = _renumbered(key, lambda number: order.setdefault(number, len(order)))
        whole = self._function(sizes, _nowhere)
        for number in order:
            whole = whole.flat_range_product(element.relations[number])
        return {key: whole}

    def _rank(self, key: Key) -> int:
        """Returns the number of an expression, without the relations by which it reads elements."""
        return self._ranks.setdefault(_renumbered(key, lambda _: 0), len(self._ranks))

    def _element(self, term: Term) -> _Element:
        if term not in self._elements:
            check_deadline()
            self._elements[term] = self._expression(term)
        return self._elements[term]

    def _expression(self, term: Term) -> _Element:
        if selected_by(term) is not None:
            ((operand, relation),) = self._steps(term)
            inner = self._element(operand)
            return self._joined([inner], lambda keys: keys[0], [relation])
        if term.kind == "each":
            inner_ones = [self._element(each) for each in term.operands]
            if sum(_size(each.key) for each in inner_ones) < _MOST_OPERATIONS:
                label, kind = term.label, kind_of(term)
                return self._joined(inner_ones, lambda keys: (label, kind, keys), [])
        if not sizes_of(term):
            return _Element((_BASE, term, None), ())
        return _Element((_BASE, term, 0), (self._function(sizes_of(term), list),))

    def _joined(
        self, elements: Sequence[_Element], make: Callable[[tuple[Key, ...]], Key], outer: Sequence[isl.Map]
    ) -> _Element:
        """Returns an expression over several elements, with one number for equal relations."""
        relations: list[isl.Map] = []
        keys = []
        for element in elements:
            numbers = []
            for relation in element.relations:
                whole = outer[0].apply_range(relation) if outer else relation
                at = next((i for i, each in enumerate(relations) if _is_same(each, whole)), len(relations))
                relations += [whole] if at == len(relations) else []
                numbers.append(at)
            keys.append(_renumbered(element.key, numbers.__getitem__))
        return _Element(make(tuple(keys)), tuple(relations))

    # Steps

    def _steps(self, term: Term) -> Iterator[tuple[Term, isl.Map]]:
        """Yields each operand with the relation from the term's indices to the operand's combined indices."""
        sizes, label, operands = sizes_of(term), label_of(term), term.operands
        if isinstance(label[0], Plan):
            yield from self._moved(term, label[0])
        elif label[0] == "concatenate":
            yield from self._parts_of(term, label[1])
        elif label[0] in ("reduce", "reduce-window"):
            texts = ["j0 = i0"] if label[0] == "reduce" else map(_within, count(), label[2])
            yield operands[0], self._related(sizes, sizes_of(operands[0]), texts)
            yield operands[1], self._function(sizes, _nowhere)
        else:
            make = _nowhere if term.kind == "splat" else partial(_origin, term)
            yield from ((operand, self._function(sizes, make)) for operand in operands)

    def _moved(self, term: Term, plan: Plan) -> Iterator[tuple[Term, isl.Map]]:
        """Yields the elements that a plan reads, and the padding values of its pads."""
        numbers = count(1)
        plan = replace(plan, paddings=tuple(None if each is None else next(numbers) for each in plan.paddings))
        terms = self._terms(sizes_of(term))
        read = read_back(plan, terms.index, 0, kind_of(term).bits)
        rest = terms.domain([])
        for stop in read.stops:
            kept = terms.domain(stop.conditions)
            assert isinstance(stop.padding, int)  # numbered above
            yield term.operands[stop.padding], self._relation(terms, [], rest.subtract(kept))
            rest = rest.intersect(kept)
        yield term.operands[0], self._relation(terms, read.position.coordinates, rest)

    def _parts_of(self, term: Term, dimension: int) -> Iterator[tuple[Term, isl.Map]]:
        """Yields the elements of each part of a concatenation."""
        start = 0
        for operand in term.operands:
            terms, size = self._terms(sizes_of(term)), sizes_of(operand)[dimension]
            index = list(terms.index)
            index[dimension] = index[dimension] + -start
            inside = terms.domain([Condition(index[dimension], 0, size)])
            yield operand, self._relation(terms, index, inside)
            start += size

    def _function(self, sizes: Sequence[int], make: _Make) -> isl.Map:
        terms = self._terms(sizes)
        return self._relation(terms, make(terms.index), terms.domain([]))

    def _terms(self, sizes: Sequence[int]) -> Terms:
        from dialect_utils.layout.proof.decide import Terms

        return Terms(self.context, tuple(sizes), 1)

    def _relation(self, terms: Terms, coordinates: Sequence[Any], domain: isl.Set) -> isl.Map:
        """Returns the relation from the indices in a domain to coordinates."""
        import islpy as isl

        found = isl.Map.from_domain(domain)
        for coordinate in coordinates:
            found = found.flat_range_product(isl.Map.from_aff(terms.aff(coordinate)))
        # The last variable numbers the parts of an element's bits; it is 0 for whole elements.
        return found.project_out(isl.dim_type.in_, len(terms.index), 1)

    def _related(self, sizes: Sequence[int], others: Sequence[int], texts: Iterable[str]) -> isl.Map:
        """Returns the relation of indices (i0, i1, ...) and (j0, j1, ...) that meet the conditions `texts`."""
        import islpy as isl

        first, second = ([f"{letter}{i}" for i in range(len(each))] for letter, each in (("i", sizes), ("j", others)))
        bounds = [f"0 <= {name} < {size}" for name, size in zip([*first, *second], (*sizes, *others), strict=True)]
        conditions = " and ".join([*texts, *bounds]) or "true"
        return isl.Map.read_from_str(
            self.context, f"{{ [{', '.join(first)}] -> [{', '.join(second)}] : {conditions} }}"
        )


def _bits(key: Key) -> int | None:
    return bits_of_scalar(key[1]) if key[0] == _BASE else None


def _renumbered(key: Key, change: Callable[[int], int]) -> Key:
    """Returns an expression with the numbers of its relations changed."""
    if key[0] == _BASE:
        return key if key[2] is None else (*key[:2], change(key[2]))
    return (*key[:2], tuple(_renumbered(each, change) for each in key[2]))


def _size(key: Key) -> int:
    return 1 if key[0] == _BASE else 1 + sum(map(_size, key[2]))


def _is_same(first: isl.Map, second: isl.Map) -> bool:
    return first.get_space().is_equal(second.get_space()) and bool(first.is_equal(second))


def _within(i: int, window: WindowDimension) -> str:
    """Returns the condition that window i contains element j in one dimension."""
    reached = f"{window.stride} i{i} + {window.rhs_dilation} o - {window.low}"
    return f"(exists o : 0 <= o < {window.size} and {window.lhs_dilation} j{i} = {reached})"


def _nowhere(_: Sequence[Any]) -> Sequence[Any]:
    return []


def _origin(term: Term, index: Sequence[Any]) -> Sequence[Any]:
    """Returns the element of an operand that a broadcast, a reversal or an elementwise operation reads."""
    match label_of(term):
        case ("broadcast", dimensions):
            sizes = zip(sizes_of(term.operands[0]), dimensions, strict=True)
            return [0 if size == 1 else index[to] for size, to in sizes]
        case ("reverse", dimensions):
            pairs = enumerate(zip(sizes_of(term), index, strict=True))
            return [at * -1 + (size - 1) if i in dimensions else at for i, (size, at) in pairs]
    return index
