"""Operations whose terms follow rules of their own: tuples, constants, asynchronous ops, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.execution.constants import contents, contents_of_leaves, repeated_bits
from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.ops import by_opcode, opcode_of
from dialect_utils.verdict.proof.exchanges import exchange
from dialect_utils.verdict.proof.loops import loop, scan
from dialect_utils.verdict.proof.terms import Array, GaveUpError, Term, Terms, Tree
from dialect_utils.verdict.rules import Rule as AlgebraRule
from dialect_utils.verdict.terms.exchanges import by_phase
from dialect_utils.verdict.terms.primitives import tree_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

Rule = Callable[["Evaluation", Operation], Sequence[Tree]]

KNOWN_BRANCH = AlgebraRule("known-branch", "A conditional on a constant runs one branch.")
BRANCHES = AlgebraRule("branches", "A conditional whose branches have no side effects is a select of their results.")


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
    if index[0] >= len(tree):
        raise GaveUpError(f"element {index[0]} is taken from a tuple of {len(tree)}")
    return [tree[index[0]]]


def _constant(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    shape, bits = operation.results[0].shape, operation.splat_bits
    if isinstance(shape, TupleShape):
        return _constant_tuple(evaluation, operation)
    if not isinstance(shape, ArrayShape):
        return evaluation.opaque(operation)
    terms = evaluation.terms
    if bits is not None:
        return [terms.literal(shape.element_type, bits, shape.dimensions)]
    data = contents(operation)
    if data is None:
        return evaluation.opaque(operation)
    return [terms.make("constant", data, ArrayShape(shape.element_type, shape.dimensions))]


def _constant_tuple(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns a tuple of constants, array by array."""
    contents, terms = contents_of_leaves(operation), evaluation.terms
    if contents is None:
        return evaluation.opaque(operation)
    found = []
    for shape, data in zip(operation.results[0].shape.without_layout.arrays(), contents, strict=True):
        bits = repeated_bits(data, shape.element_type)
        if bits is None:
            found.append(terms.make("constant", data, shape))
        else:
            found.append(terms.literal(shape.element_type, bits, shape.dimensions))
    return [tree_of(operation.results[0].shape, iter(found))]


def _copy_start(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    (value,) = _operands(evaluation, operation)
    return [_with_contexts(evaluation, operation, value, value)]


def _async_start(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    operands = _operands(evaluation, operation)
    (called,) = operation.called
    (result,) = evaluation.call(called, operands)
    return [_with_contexts(evaluation, operation, tuple(operands), result)]


def _with_contexts(evaluation: Evaluation, operation: Operation, *parts: Tree) -> Tree:
    """Returns the result of a start operation: the parts, and contexts, which hold no values."""
    shape = operation.results[0].shape
    count = len(shape.elements) if isinstance(shape, TupleShape) else 0
    return (*parts, *[evaluation.terms.unspecified] * (count - len(parts)))


def _done(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    begun, position = evaluation.values[operation.operands[0]], opcode_of(operation.opcode).started
    if position is None:
        return [begun]
    return [begun[position]] if isinstance(begun, tuple) else evaluation.opaque(operation)


def _update(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    # An update may give operands that the start lacks.
    return _first(evaluation, operation) if len(operation.operands) == 1 else evaluation.opaque(operation)


def _conditional(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns the results of all branches, chosen array by array."""
    selector, *operands = _operands(evaluation, operation)
    branches = operation.called
    arguments: list[list[Tree]] = [[operand] for operand in operands] or [[] for _ in branches]
    (chosen,) = evaluation.flat(selector)
    known = _known_branch(evaluation.terms, chosen, len(branches))
    if known is not None:
        evaluation.terms.note(KNOWN_BRANCH)
        return evaluation.run(branches[known], arguments[known])
    label = (*evaluation.scope, len(evaluation.effects))
    found = [
        evaluation.within(part, partial(evaluation.run, branch, given))
        for part, (branch, given) in enumerate(zip(branches, arguments, strict=True))
    ]
    terms = evaluation.terms
    effects = [terms.make("op", ("branch", part), TupleShape(()), made) for part, (_, made) in enumerate(found)]
    has_effects = any(made for _, made in found)
    if has_effects:
        evaluation.effects.append(terms.make("op", ("branches", label), TupleShape(()), (chosen, *effects)))
    leaves: Iterator[Array] = iter(
        [
            _chosen(terms, label if has_effects else _PURE, chosen, results)
            for results in zip(*(results for results, _ in found), strict=True)
        ]
    )
    return [tree_of(value.shape, leaves) for value in operation.results]


_PURE: Hashable = None


def _known_branch(terms: Terms, selector: Term, count: int) -> int | None:
    """Returns the branch that a constant selects: the last one where the constant is out of range."""
    bits = terms.constant_bits(selector)
    if bits is None:
        return None
    if selector.array.element_type.name == "pred":
        return 1 - bits
    return bits if bits < count else count - 1


def _chosen(terms: Terms, label: Hashable, selector: Term, results: Sequence[Term]) -> Term:
    """Returns a result of branches: a select where a truth value chooses one of two."""
    shape = results[0].shape
    is_select = isinstance(shape, ArrayShape) and selector.array.element_type.name == "pred" and label is _PURE
    if not is_select:
        return terms.choice(label, selector, results)
    predicate = terms.splat(selector, results[0].array.dimensions)
    operands = (predicate, *results)
    if all(result.is_specified for result in results):
        terms.note(BRANCHES)
        return terms.each("select", results[0].array.element_type, operands)
    made = terms.choice(label, selector, results)
    terms.step(BRANCHES, terms.each_as_is("select", results[0].array.element_type, operands), made)
    return made


def _bitcast(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns the movement that an HLO bitcast's layouts stand for, where that is proved."""
    # Imported here: it loads isl.
    from dialect_utils.layout.proof.bitcast_proof import proved_movement

    plan = proved_movement(operation.operands[0].shape, operation.results[0].shape)
    if plan is None:
        return evaluation.opaque(operation)
    return [evaluation.moved(evaluation.array(operation.operands[0]), plan.steps)]


# One rule for each opcode that has one of its own.
RULES: Mapping[str, Rule] = by_opcode(
    {
        **by_phase(exchange, _done, _update),
        "add-dependency": _first,
        "async-done": _done,
        "async-start": _async_start,
        "async-update": _update,
        "bitcast": _bitcast,
        "conditional": _conditional,
        "constant": _constant,
        "copy": _first,
        "copy-done": _done,
        "copy-start": _copy_start,
        "domain": _first,
        "get-tuple-element": _element,
        "opt-barrier": _operands,
        "scan": scan,
        "tuple": _tuple,
        "while": loop,
    }
)
