"""Operations whose terms follow rules of their own: tuples, constants, asynchronous ops, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.verdict.proof.keys import ordered_calls
from dialect_utils.verdict.proof.loops import loop
from dialect_utils.verdict.proof.terms import Array
from dialect_utils.verdict.proof.trees import Tree, tree_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

Rule = Callable[["Evaluation", Operation], Sequence[Tree]]

# Ops that are what they call.
INLINED = frozenset({"call", "fusion", "stablehlo.composite"})


def _operands(evaluation: Evaluation, operation: Operation) -> list[Tree]:
    return [evaluation.values[operand] for operand in operation.operands]


def _first(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    return _operands(evaluation, operation)[:1]


def _tuple(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    return [tuple(_operands(evaluation, operation))]


def _element(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    tree, index = evaluation.values[operation.operands[0]], operation.ints("index")
    assert isinstance(tree, tuple)  # elements are taken from tuples
    assert index is not None
    return [tree[index[0]]]


def _constant(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    shape, bits = operation.results[0].shape, operation.splat_bits
    if bits is None or not isinstance(shape, ArrayShape):
        return evaluation.opaque(operation)
    scalar = evaluation.terms.make("constant", bits, ArrayShape(shape.element_type, ()))
    return [evaluation.terms.splat(scalar, shape.dimensions)]


def _broadcast(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    source, result = operation.operands[0].shape, operation.results[0].shape
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape) or source.rank or result.dynamic:
        return evaluation.opaque(operation)
    return [evaluation.terms.splat(evaluation.term(operation.operands[0]), result.dimensions)]


def _copy_start(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    (value,) = _operands(evaluation, operation)
    return [_with_contexts(evaluation, operation, value, value)]


def _async_start(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    operands = _operands(evaluation, operation)
    (called,) = operation.called
    (result,) = evaluation.call(called, operands)
    return [_with_contexts(evaluation, operation, tuple(operands), result)]


def _with_contexts(evaluation: Evaluation, operation: Operation, *parts: Tree) -> Tree:
    """Returns what a start yields: the parts, and contexts that hold nothing to compute with."""
    shape = operation.results[0].shape
    count = len(shape.elements) if isinstance(shape, TupleShape) else 0
    return (*parts, *[evaluation.terms.unspecified] * (count - len(parts)))


def _done(evaluation: Evaluation, operation: Operation, position: int) -> Sequence[Tree]:
    started = evaluation.values[operation.operands[0]]
    return [started[position]] if isinstance(started, tuple) else evaluation.opaque(operation)


def _conditional(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Computes all branches; what they yield is chosen array by array."""
    selector, *operands = _operands(evaluation, operation)
    branches = ordered_calls(operation)
    arguments: list[list[Tree]] = [[operand] for operand in operands] or [[] for _ in branches]
    label = (*evaluation.scope, len(evaluation.effects))
    found = [
        evaluation.within(part, partial(evaluation.run, branch, given))
        for part, (branch, given) in enumerate(zip(branches, arguments, strict=True))
    ]
    (chosen,) = evaluation.flat(selector)
    terms = evaluation.terms
    effects = [terms.make("op", ("branch", part), TupleShape(()), made) for part, (_, made) in enumerate(found)]
    has_effects = any(made for _, made in found)
    if has_effects:
        evaluation.effects.append(terms.make("op", ("branches", label), TupleShape(()), (chosen, *effects)))
    leaves: Iterator[Array] = iter(
        [
            terms.choice(label if has_effects else _PURE, chosen, results)
            for results in zip(*(results for results, _ in found), strict=True)
        ]
    )
    return [tree_of(value.shape, leaves) for value in operation.results]


_PURE: Hashable = None

RULES: dict[str, Rule] = {
    "add-dependency": _first,
    "async-done": partial(_done, position=1),
    "async-start": _async_start,
    "async-update": _first,
    "broadcast": _broadcast,
    "conditional": _conditional,
    "constant": _constant,
    "copy": _first,
    "copy-done": partial(_done, position=0),
    "copy-start": _copy_start,
    "domain": _first,
    "get-tuple-element": _element,
    "opt-barrier": _operands,
    "tuple": _tuple,
    "while": loop,
}
