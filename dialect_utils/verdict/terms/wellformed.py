"""Checks that terms of a certificate are well-formed: operands, label and shape fit the kind of term.

Checks of steps then rely on a term's kind and label. A term with any other label is an unknown function of its
operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import prod
from typing import Any

from dialect_utils.execution.constants import bits_of
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Pad, Shape, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import BITWISE, EXTREMES, OPCODES, Trait, has, opcode_of
from dialect_utils.ops.domain import DIRECTIONS
from dialect_utils.ops.window import positions
from dialect_utils.verdict.terms.primitives import ANY_ORDER, Term

# The type of undefined padding.
NOTHING = ArrayShape(ElementType("unspecified", 0), ())
_PRED = ELEMENT_TYPES["pred"]
# The highest power in a polynomial, because steps expand powers factor by factor.
_HIGHEST_POWER = 1000
# Operations on any number of operands, which steps flatten.
_OF_ANY_NUMBER = EXTREMES | BITWISE
_KEY = ("opcode", "integers", "texts", "contents", "shapes")


class RefusedError(Exception):
    """Raised for a malformed term, and for a step that its rule does not justify."""


def demand(is_right: bool, why: str) -> None:
    """Raises RefusedError with the message `why` unless `is_right`."""
    if not is_right:
        raise RefusedError(why)


def check_term(term: Term) -> None:
    """Raises RefusedError for a term whose label, shape and operands do not fit each other."""
    check = _KINDS.get(term.kind)
    demand(check is not None and isinstance(term.shape, Shape), f"{term.kind} is no kind of term")
    between = term.label.stages if isinstance(term.label, Plan) else ()
    for array in (*term.shape.arrays(), *(ArrayShape(*stage) for stage in between)):
        is_known = ELEMENT_TYPES.get(array.element_type.name) == array.element_type or array == NOTHING
        demand(is_known and _are_numbers(array.dimensions) and array.layout is None, f"{array} is no shape of a term")
    if check is not None:
        demand(check(term), f"a term of the kind {term.kind} means nothing: {term.label}")


def _are_numbers(values: Any) -> bool:
    """Is true for nonnegative integers; `True` is not an integer here."""
    return isinstance(values, (tuple, frozenset)) and all(type(each) is int and each >= 0 for each in values)


def _static(*terms: Term) -> list[ArrayShape]:
    """Returns the shapes of arrays; raises RefusedError for other terms."""
    shapes = [each.shape for each in terms if isinstance(each.shape, ArrayShape) and each.shape.is_static]
    demand(len(shapes) == len(terms), "a term is no array of known sizes")
    return shapes


def _leaf(term: Term) -> bool:
    return not term.operands


def _constant(term: Term) -> bool:
    (shape,) = _static(term)
    kind, label = shape.element_type, term.label
    if isinstance(label, bytes):
        is_whole = len(label) == prod(shape.dimensions) * kind.storage_bytes
        return not term.operands and is_whole and all(each < 1 << kind.bits for each in bits_of(label, kind))
    return not term.operands and shape.dimensions == () and type(label) is int and 0 <= label < 1 << kind.bits


def _splat(term: Term) -> bool:
    shape, *scalars = _static(term, *term.operands)
    return term.label is None and shape.dimensions != () and scalars == [ArrayShape(shape.element_type, ())]


def _choice(term: Term) -> bool:
    selector, *branches = term.operands
    (scalar,) = _static(selector)
    is_selector = scalar.dimensions == () and (scalar.element_type.is_integral or scalar.element_type == _PRED)
    return is_selector and bool(branches) and all(each.shape == term.shape for each in branches)


def _moved(term: Term) -> bool:
    plan, (shape, source), (_, *scalars) = term.label, _static(term, *term.operands[:1]), term.operands
    if not isinstance(plan, Plan) or (source, shape) != (ArrayShape(*plan.start), ArrayShape(*plan.result)):
        return False
    for step, padding in zip(plan.steps, plan.paddings, strict=True):
        gaps = step.gaps if isinstance(step, Pad) else None
        demand((gaps is None) == (padding is None) and _are_numbers(gaps or ()), "padding without a value")
    kinds = [stage[0] for stage, padding in zip(plan.stages, plan.paddings, strict=False) if padding is not None]
    pairs = zip(scalars, kinds, strict=True)
    return all(scalar.shape in (ArrayShape(kind, ()), NOTHING) for scalar, kind in pairs)


def _out(term: Term) -> bool:
    (made,) = term.operands
    is_result = made.kind == "op" and isinstance(made.shape, TupleShape) and _are_numbers((term.label,))
    return is_result and [*made.shape.leaves()][int(str(term.label))] == term.shape


def _element(term: Term) -> bool:
    shape, array = _static(term, *term.operands)
    is_inside = type(term.label) is int and 0 <= term.label < prod(array.dimensions)
    return is_inside and shape == ArrayShape(array.element_type, ())


def _array(term: Term) -> bool:
    shape, *elements = _static(term, *term.operands)
    scalar = ArrayShape(shape.element_type, ())
    return term.label is None and elements == [scalar] * prod(shape.dimensions)


# Elementwise operations


def _each(term: Term) -> bool:
    shape, *operands = _static(term, *term.operands)
    label = (term.label,) if isinstance(term.label, str) else term.label
    demand(isinstance(label, tuple) and bool(label) and isinstance(label[0], str), "an operation has no name")
    demand(bool(operands) and all(each.dimensions == shape.dimensions for each in operands), "the sizes differ")
    assert isinstance(label, tuple)  # checked above
    if len(label) == len(_KEY) and label[0] in OPCODES:
        return _is_key(label)
    check = _LABELS.get(label[0])
    if check is not None:
        return check(label[1:], shape, operands)
    return len(label) == 1 and _has_operands(label[0], operands)


Check = Callable[[Sequence[Any], ArrayShape, Sequence[ArrayShape]], bool]


def _has_operands(opcode: str, operands: Sequence[ArrayShape]) -> bool:
    """Is true for the right number of operands; types may be mixed, as in fused HLO."""
    count = _operand_count(opcode)
    is_choice = opcode != "select" or operands[0].element_type == _PRED
    return is_choice and (count in (None, len(operands)) or opcode in _OF_ANY_NUMBER)


@lru_cache(maxsize=256)
def _operand_count(opcode: str) -> int | None:
    """Returns the number of operands of an elementwise operation, None for other operations."""
    return opcode_of(opcode).operand_count if has(opcode, Trait.ELEMENTWISE) else None


def _compare(label: Sequence[Any], shape: ArrayShape, operands: Sequence[ArrayShape]) -> bool:
    direction, is_total = label
    left, right = operands
    return direction in DIRECTIONS and type(is_total) is bool and left == right and shape.element_type == _PRED


def _reread(label: Sequence[Any], shape: ArrayShape, operands: Sequence[ArrayShape]) -> bool:
    (only,) = operands
    return tuple(label) == (shape.element_type,) and only.element_type.bits == shape.element_type.bits


def _ring(label: Sequence[Any], shape: ArrayShape, operands: Sequence[ArrayShape]) -> bool:
    is_integer = shape.element_type.is_integral and all(each == shape for each in operands)
    for coefficient, powers in label:
        factors = [type(coefficient) is int, *(_are_numbers(tuple(each)) for each in powers)]
        is_small = all(position < len(operands) and power <= _HIGHEST_POWER for position, power in powers)
        demand(all(factors) and is_small, "a polynomial is none")
    return is_integer


def _sum(label: Sequence[Any], shape: ArrayShape, operands: Sequence[ArrayShape]) -> bool:
    return len(label) == 1 and all(each == shape for each in operands)


def _part(label: Sequence[Any], shape: ArrayShape, operands: Sequence[ArrayShape]) -> bool:
    (only,) = operands
    is_part = len(label) == 1 and _are_numbers(tuple(label))
    return is_part and (label[0] + 1) * shape.element_type.bits <= only.element_type.bits


_LABELS: Mapping[str, Check] = {
    ANY_ORDER: _sum,
    "bitcast-convert": _reread,
    "compare": _compare,
    "padding": _sum,
    "part": _part,
    "ring": _ring,
    "sum": _sum,
    "sum-of-products": _sum,
}


# Other operations


def _op(term: Term) -> bool:
    label = term.label
    demand(isinstance(label, tuple) and bool(label), "an operation has no name")
    assert isinstance(label, tuple)  # checked above
    if isinstance(label[0], tuple):
        return len(label) == len(("key", "operands", "devices", "effect")) and _is_key(label[0])
    check = _PRIMITIVES.get(label[0])
    return check is None or check(term, label[1:])


def _is_key(key: Sequence[Any]) -> bool:
    """Is true for a tuple with the fields of `labels.Key`."""
    is_whole = len(key) == len(_KEY) and isinstance(key[0], str) and isinstance(key[2], tuple)
    return is_whole and all(len(each) == len(("name", "text")) and isinstance(each[1], str) for each in key[2])


def _function(term: Term, label: Sequence[Any]) -> bool:
    level, shapes, count = label
    return _are_numbers((level, count)) and count <= len(term.operands) and isinstance(shapes, tuple)


def _while(term: Term, label: Sequence[Any]) -> bool:
    level, counts, _ = label
    is_counted = isinstance(counts, tuple) and bool(counts) and _are_numbers((level, *counts))
    return is_counted and sum(counts) == len(term.operands)


def _broadcast(term: Term, label: Sequence[Any]) -> bool:
    (to,), (shape, operand) = label, _static(term, *term.operands)
    is_inside = _are_numbers(to) and len({*to}) == len(to) == operand.rank
    return (
        is_inside
        and shape.element_type == operand.element_type
        and all(size in (1, shape.dimensions[i]) for size, i in zip(operand.dimensions, to, strict=True))
    )


def _reverse(term: Term, label: Sequence[Any]) -> bool:
    (dimensions,), (shape, operand) = label, _static(term, *term.operands)
    is_set = isinstance(dimensions, frozenset) and _are_numbers(dimensions)
    return is_set and all(each < shape.rank for each in dimensions) and shape == operand


def _concatenate(term: Term, label: Sequence[Any]) -> bool:
    (dimension,), (shape, *parts) = label, _static(term, *term.operands)
    if not parts or not _are_numbers((dimension,)) or dimension >= shape.rank:
        return False
    size = sum(each.dimensions[dimension] for each in parts if each.rank == shape.rank)
    return all(_resized(each, dimension, size) == shape for each in parts)


def _resized(shape: ArrayShape, dimension: int, size: int) -> ArrayShape:
    sizes = shape.dimensions
    return ArrayShape(shape.element_type, (*sizes[:dimension], size, *sizes[dimension + 1 :]))


def _iota(term: Term, label: Sequence[Any]) -> bool:
    (shape,) = _static(term)
    return not label and not term.operands and shape.rank == 1


def _at(part: ArrayShape, whole: ArrayShape, indices: Sequence[ArrayShape]) -> bool:
    """Is true for a slice or update `part` of `whole`, with one scalar index per dimension."""
    is_part = part.element_type == whole.element_type and part.rank == whole.rank == len(indices)
    return (
        is_part
        and all(a <= b for a, b in zip(part.dimensions, whole.dimensions, strict=True))
        and all(each.dimensions == () and each.element_type.is_integral for each in indices)
    )


def _slice(term: Term, label: Sequence[Any]) -> bool:
    shape, operand, *indices = _static(term, *term.operands)
    return not label and _at(shape, operand, indices)


def _update(term: Term, label: Sequence[Any]) -> bool:
    shape, operand, update, *indices = _static(term, *term.operands)
    return not label and shape == operand and _at(update, operand, indices)


def _gather(term: Term, label: Sequence[Any]) -> bool:
    (windows, _), (shape, array, *columns) = label, _static(term, *term.operands)
    (*sizes, rest), (count, *others) = array.dimensions, {each.dimensions for each in columns}
    is_indexed = not others and len(count) == 1 and all(each.element_type.is_integral for each in columns)
    is_inside = _are_numbers(windows) and len(windows) == len(columns) == len(sizes)
    return (
        is_indexed
        and is_inside
        and all(window <= size for window, size in zip(windows, sizes, strict=True))
        and shape == ArrayShape(array.element_type, (*count, *windows, rest))
    )


def _scatter(term: Term, label: Sequence[Any]) -> bool:
    (count, _), (*operands, _) = label, term.operands
    arrays = tuple(each.shape for each in operands[:count])
    return _are_numbers((count,)) and 0 < count <= len(operands) // 2 and term.shape == TupleShape(arrays)


def _reduce(term: Term, label: Sequence[Any]) -> bool:
    if label[0] is None:
        return True
    shape, array, initial = _static(term, *term.operands)
    kind = array.element_type
    demand(has(label[0], Trait.COMMUTATIVE), "a reduction by an operation that does not commute")
    return array.rank == len(("kept", "reduced")) and (shape, initial) == (
        ArrayShape(kind, array.dimensions[:1]),
        ArrayShape(kind, ()),
    )


def _reduce_window(term: Term, label: Sequence[Any]) -> bool:
    if label[0] is None:
        return True
    (opcode, window, has_padding), (shape, array, initial) = label, _static(term, *term.operands)
    kind = array.element_type
    demand(has(opcode, Trait.COMMUTATIVE), "a reduction by an operation that does not commute")
    steps = [(each.size, each.stride, each.lhs_dilation, each.rhs_dilation) for each in window]
    demand(all(type(each) is int and each > 0 for each in chain(*steps)), "a window that goes backwards")
    sizes = tuple(positions(size, each) for size, each in zip(array.dimensions, window, strict=True))
    return type(has_padding) is bool and (shape, initial) == (ArrayShape(kind, sizes), ArrayShape(kind, ()))


def _dot(term: Term, label: Sequence[Any]) -> bool:
    shape, left, right = _static(term, *term.operands)
    is_ranked = len(label) == 1 and left.rank == right.rank == len(("batch", "rows", "summed"))
    (batch, rows, summed), (other, columns, count) = left.dimensions, right.dimensions
    return is_ranked and (batch, summed) == (other, count) and shape.dimensions == (batch, rows, columns)


# One check for each primitive; "function" and "while" are labels without an opcode.
_PRIMITIVES: Mapping[str, Callable[[Term, Sequence[Any]], bool]] = {
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "dot": _dot,
    "dynamic-slice": _slice,
    "dynamic-update-slice": _update,
    "function": _function,
    "gather": _gather,
    "iota": _iota,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "reverse": _reverse,
    "scatter": _scatter,
    "while": _while,
}
_KINDS: Mapping[str, Callable[[Term], bool]] = {
    "array": _array,
    "choice": _choice,
    "constant": _constant,
    "each": _each,
    "element": _element,
    "leaf": _leaf,
    "moved": _moved,
    "op": _op,
    "out": _out,
    "splat": _splat,
}
