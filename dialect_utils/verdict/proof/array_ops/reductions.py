"""Reductions of whole arrays and of windows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType, TupleShape
from dialect_utils.ops import Trait, by_opcode, with_trait
from dialect_utils.ops.structured import (
    reduction_window,
)
from dialect_utils.verdict.proof.algebra.numbers import float_bits, highest_bits, lowest_bits, sign_bit
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.movement import reshaped, transposed
from dialect_utils.verdict.proof.array_ops.products import WINDOW
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.proof.trees import Tree

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation
    from dialect_utils.verdict.proof.terms import Terms

REDUCE = Rule("reduce", "What a reduction keeps and what it reduces may be in any order of the operand's dimensions.")
INITIAL = Rule(
    "initial-value", "A reduction whose operation is associative and exact takes its initial value once, at any place."
)

# Reductions by these are the same in any order of their terms.
_COMMUTATIVE = sorted(with_trait(Trait.COMMUTATIVE))


def reducer(terms: Terms, function: Term, element_types: Sequence[ElementType]) -> str | None:
    """Returns the commutative opcode that a function of two scalars is, or None."""
    if len(element_types) != 1 or len(function.operands) != 1:
        return None
    assert isinstance(function.label, tuple)  # so functions are made
    level, shapes, count = function.label[1:]
    scalar = ArrayShape(element_types[0], ())
    if count != 1 or shapes != (scalar, scalar):
        return None
    variables = [terms.make("leaf", ("bound", level, i), scalar) for i in range(2)]
    for opcode in _COMMUTATIVE:
        if terms.each(opcode, element_types[0], variables) is function.operands[0]:
            return opcode
    return None


def neutral_bits(opcode: str, element_type: ElementType) -> int | None:
    """Returns the bits that a reduction may take any number of times, or None."""
    ones = (1 << element_type.bits) - 1
    if opcode in ("maximum", "minimum"):
        return lowest_bits(element_type) if opcode == "maximum" else highest_bits(element_type)
    if element_type.is_floating:
        return sign_bit(element_type) if opcode == "add" else float_bits(element_type, 1.0)
    if element_type.is_complex:
        return None
    # Those of integers and truth values; a name that is none of them is an error.
    return by_opcode({"add": 0, "or": 0, "xor": 0, "and": ones, "multiply": 1})[opcode]


def is_exact(opcode: str, element_type: ElementType) -> bool:
    """Is true where a reduction does not depend on how its terms are grouped."""
    if opcode in ("maximum", "minimum"):
        return not element_type.is_complex
    return element_type.is_integral or element_type.name == "pred"


def reduce_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Reduces arrays as [kept, reduced]."""
    dimensions = operation.ints("dimensions")
    if dimensions is None or len(operation.called) != 1:
        return None
    terms = evaluation.terms
    operands = [term for value in operation.operands for term in evaluation.flat(evaluation.values[value])]
    if not all(isinstance(term.shape, ArrayShape) and term.shape.is_static for term in operands):
        return None
    function, has_effects = evaluation.function(operation.called[0])
    if has_effects:
        return None
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    types = [array.array.element_type for array in arrays]
    sizes = arrays[0].array.dimensions
    kept = [i for i in range(len(sizes)) if i not in dimensions]
    reduced = sorted(dimensions)
    rows, terms_each = prod(sizes[i] for i in kept), prod(sizes[i] for i in reduced)
    flat = [reshaped(terms, transposed(terms, each, (*kept, *reduced)), (rows, terms_each)) for each in arrays]
    terms.note(REDUCE)
    opcode = reducer(terms, function, types)
    if opcode is not None and types[0] == initial[0].array.element_type:
        made = [reduction(terms, opcode, flat[0], initial[0])]
    else:
        shapes = _result_shapes(evaluation, operation, rows)
        if shapes is None:
            return None
        op = terms.make("op", ("reduce", None), TupleShape(shapes), (*flat, *initial, function))
        made = evaluation.outs(op, shapes)
    leaves = [reshaped(terms, each, tuple(sizes[i] for i in kept)) for each in made]
    return evaluation.trees(operation, leaves)


def _result_shapes(evaluation: Evaluation, operation: Operation, rows: int) -> tuple[ArrayShape, ...] | None:
    shapes = evaluation.result_shapes(operation)
    if not all(isinstance(shape, ArrayShape) for shape in shapes):
        return None
    return tuple(ArrayShape(shape.element_type, (rows,)) for shape in shapes if isinstance(shape, ArrayShape))


def reduction(terms: Terms, opcode: str, array: Term, initial: Term) -> Term:
    """Returns the reduction of [kept, reduced] along the second dimension by a commutative operation."""
    element_type, (rows, count) = array.array.element_type, array.array.dimensions
    neutral = neutral_bits(opcode, element_type)
    start = terms.splat(initial, (rows,))
    is_neutral = neutral is not None and terms.constant_bits(initial) == neutral
    if count == 0:
        return start
    if is_exact(opcode, element_type) and neutral is not None:
        terms.note(INITIAL)
        bare = reshaped(terms, array, (rows,)) if count == 1 else None
        if bare is None:
            bare = _reduced(terms, opcode, array, terms.literal(element_type, neutral, ()))
        return bare if is_neutral else terms.each(opcode, element_type, (bare, start))
    if count == 1 and is_neutral:
        return reshaped(terms, array, (rows,))
    return _reduced(terms, opcode, array, initial)


def _reduced(terms: Terms, opcode: str, array: Term, initial: Term) -> Term:
    shape = ArrayShape(array.array.element_type, array.array.dimensions[:1])
    return terms.make("op", ("reduce", opcode), shape, (array, initial))


def reduce_window_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Reduces the elements of windows."""
    terms = evaluation.terms
    operands = [term for value in operation.operands for term in evaluation.flat(evaluation.values[value])]
    if len(operation.called) != 1 or not all(
        isinstance(term.shape, ArrayShape) and term.shape.is_static for term in operands
    ):
        return None
    function, has_effects = evaluation.function(operation.called[0])
    shapes = evaluation.result_shapes(operation)
    if has_effects or not all(isinstance(shape, ArrayShape) for shape in shapes):
        return None
    count = len(operands) // 2
    window = reduction_window(operation, len(operands[0].array.dimensions))
    types = [each.array.element_type for each in operands[:count]]
    opcode = reducer(terms, function, types) if types[0] == operands[count].array.element_type else None
    terms.note(WINDOW)
    if opcode is not None:
        shape = shapes[0]
        return [terms.make("op", ("reduce-window", opcode, window), shape, operands)]
    op = terms.make("op", ("reduce-window", None, window), TupleShape(tuple(shapes)), (*operands, function))
    return evaluation.trees(operation, evaluation.outs(op, shapes))
