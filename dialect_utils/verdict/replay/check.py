"""Replays a proof: both modules become nodes by their definitions, each step is checked, and the results compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, Excluded, Reading, Step, without_chlo
from dialect_utils.verdict.entry import entry_interface
from dialect_utils.verdict.replay import arrays, contractions, slices
from dialect_utils.verdict.replay.arrays import reducer
from dialect_utils.verdict.replay.elements import Elements
from dialect_utils.verdict.replay.equality import Equality, Level
from dialect_utils.verdict.replay.given import Given
from dialect_utils.verdict.replay.scalars import check_scalar
from dialect_utils.verdict.replay.widening import OF_FUNCTIONS, converted_function, labels_of, promoted
from dialect_utils.verdict.rules import try_rule
from dialect_utils.verdict.rules.arrays import ORDER as ORDERED, PROMOTED
from dialect_utils.verdict.terms.devices import run_both
from dialect_utils.verdict.terms.graph import Graph, Nodes
from dialect_utils.verdict.terms.primitives import OPERANDS, ORDER_OF_SUMS, TWICE, Term
from dialect_utils.verdict.terms.wellformed import RefusedError

_NAN_BITS = "NaN bits"
# Choices that the definition leaves to the engine, by the rules that use them.
CHOICES = {
    "constant-function": "function rounding",
    "convolution-padding": "convolution padding",
    "convolution-precision": "dot precision",
    "dot-as-sum": "dot precision",
    "excess-precision": "excess precision",
    "function-rounding": "function rounding",
    "initial-zero": "initial zero",
    "operand-precision": OPERANDS,
    PROMOTED.name: "precision of all-reduce",
    "wider-dot": "dot precision",
}
OBSERVED = "the programs are equal only up to a choice of the engine, which an operation observes"
_LEVELS = {"bits": Level.BITS, "nan": Level.NAN, "order": Level.ENGINE}
# Errors of a check that unpacks a step with other operands or labels than its rule has.
_UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    DiagnosticError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
# Rules that require a function to be one operation.
_REDUCERS = frozenset({"reduce", "window"})
# One check for each rule about whole arrays.
CHECKS = {**arrays.CHECKS, **slices.CHECKS, **contractions.CHECKS}


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay: for each output the finest proved equality, or None.

    `effects` is the equality of the side effects, `used` lists the engine's choices in steps beyond NaN bits, and
    `refused` tells why a step was rejected. `obstacle` tells how a program reads a choice of the engine,
    where nothing else makes a difference. `conditions` are the certificate's conditions on data.
    """

    outputs: tuple[Level | None, ...]
    effects: Level | None
    used: tuple[str, ...] = ()
    refused: str = ""
    obstacle: str = ""
    conditions: tuple[Excluded, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Is true where all outputs and the side effects are proved equal."""
        return self.effects is not None and None not in self.outputs

    @property
    def all_choices(self) -> tuple[str, ...]:
        """Returns the choices that the proof of all outputs leaves to the engine."""
        return tuple(dict.fromkeys(choice for i in range(len(self.outputs)) for choice in self.choices(i)))

    def choices(self, output: int) -> tuple[str, ...]:
        """Returns the choices that the proof of an output leaves to the engine."""
        level = self.outputs[output]
        if not level:
            return ()
        return (*(self.used if level > Level.NAN else ()), _NAN_BITS)


@dataclass(frozen=True, slots=True)
class _Merge:
    """Two nodes that a step makes equal at a level if all pairs in `conditions` are equal at this level."""

    level: Level
    first: int
    second: int
    conditions: tuple[tuple[int, int], ...] = ()


def replay(stages: Sequence[Module], certificate: Certificate) -> Replayed:
    """Checks a certificate that the first and the last of several forms of a module are equal.

    Raises DiagnosticError where their entries do not fit.
    """
    interface = entry_interface(stages, certificate.partition)
    graph, steps = Graph(), certificate.steps
    if certificate.is_decomposed:
        stages = without_chlo(stages)
    modules = stages[0], stages[-1]
    try:
        first, last = map(partial(_nodes, graph), modules, certificate.readings)
        walked = run_both(
            first, lambda: last, modules, interface, certificate.iterations, on_each=certificate.is_on_each
        )
        expected, found = walked.expected, walked.found
        effects, other_effects = walked.effects, walked.other_effects
        elements = Elements(last)
        given = Given(graph, certificate.conditions)
        merges = [_of_one_shape(graph, _checked(graph, elements, step, given)) for step in steps]
        merges += [_Merge(Level.BITS, *pair) for pair in (*first.folds, *last.folds, *elements.equal)]
        decision = _Decision(graph, merges, first, last)
        # An equality reads the labels of a certificate, too.
        outputs, told, equality = decision.levels(expected, found, effects, other_effects)
        conditions = _conditions(graph, given, steps, merges, ((modules[0], first), (modules[1], last)))
    except (UndefinedError, RefusedError, *_UNREADABLE) as error:
        return Replayed((None,) * len(interface.results), None, refused=str(error) or type(error).__name__)
    programs = [*expected, *effects], [*found, *other_effects]
    obstacle = "" if told is not None and None not in outputs else _obstacle(equality, merges, programs)
    if obstacle == TWICE and told is not None and len(outputs) > 1:
        # Each output is compared by itself, so a value that another output reads may be its equal.
        for i in (i for i, level in enumerate(outputs) if level is None):
            (outputs[i],), *_ = decision.levels(expected[i : i + 1], found[i : i + 1], effects, other_effects)
        obstacle = obstacle if None in outputs else ""
    open_ = [step for step, merge in zip(steps, merges, strict=False) if merge.level > Level.NAN]
    used = tuple(dict.fromkeys(CHOICES.get(step.rule, ORDER_OF_SUMS) for step in open_))
    return Replayed(tuple(outputs), told, used, obstacle=obstacle, conditions=conditions)


def _conditions(
    graph: Graph,
    given: Given,
    steps: Sequence[Step],
    merges: Sequence[_Merge],
    programs: Sequence[tuple[Module, Nodes]],
) -> tuple[Excluded, ...]:
    """Returns the conditions on data, about values of the programs that are equal without any condition."""
    if not given.nodes:
        return ()
    is_given = [(rule := try_rule(step.rule)) is not None and rule.is_conditional for step in steps]
    free = [*merges[len(steps) :], *(merge for merge, each in zip(merges, is_given, strict=False) if not each)]
    equality: Equality | None = None
    for level in (Level.BITS, Level.NAN):
        equality = Equality(graph, level, equality)
        _close(equality, free)
    return given.excluded(equality.find, programs)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class _Decision:
    """The steps of a certificate about the nodes of two programs, which `first` and `last` made."""

    graph: Graph
    merges: Sequence[_Merge]
    first: Nodes
    last: Nodes

    def levels(
        self, expected: Sequence[int], found: Sequence[int], effects: Sequence[int], other_effects: Sequence[int]
    ) -> tuple[list[Level | None], Level | None, Equality]:
        """Returns the finest equality of each output and of the effects, and the last equality that was closed."""
        outputs: list[Level | None] = [None] * len(expected)
        told: Level | None = None
        programs = [*expected, *effects], [*found, *other_effects]
        choices = [(merge.first, merge.second) for merge in self.merges if merge.level > Level.NAN]
        equality: Equality | None = None
        for level in [*Level][: Level.UNOBSERVED]:
            equality = Equality(self.graph, level, equality, programs, choices)
            _close(equality, self.merges)
            if not (_holds(equality, self.first) and _holds(equality, self.last)):
                continue
            for i in self._equal(equality, [*zip(expected, found, strict=True)]):
                outputs[i] = level if outputs[i] is None else outputs[i]
            if told is None and len(effects) == len(other_effects):
                told = level if all(map(equality.same, effects, other_effects)) else None
            if told is not None and None not in outputs:
                break
        assert equality is not None  # made for each level
        return outputs, told, equality

    def _equal(self, equality: Equality, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """Returns the numbers of the pairs that are equal and specified."""
        equal = [i for i, pair in enumerate(pairs) if equality.same(*pair)]
        unclear = [i for i in equal if not self.graph.is_specified[pairs[i][0]]]
        specified = equality.without(frozenset([self.last.unspecified()])) if unclear else frozenset()
        return [i for i in equal if i not in unclear or equality.find(pairs[i][0]) in specified]


def _obstacle(equality: Equality, merges: Sequence[_Merge], programs: Sequence[Sequence[int]]) -> str:
    """Returns the reason why results are not equal that would be if programs could not read a choice, or empty text."""
    exact = equality.at(Level.NAN)
    assert exact is not None  # the first two levels are always closed
    for level, reason in ((Level.ENGINE, TWICE), (Level.UNOBSERVED, OBSERVED)):
        free = Equality(exact.graph, level, exact)
        _close(free, merges)
        if len({*map(len, programs)}) == 1 and all(map(free.same, *programs)):
            return reason
    return ""


def _nodes(graph: Graph, module: Module, readings: Mapping[int, Reading]) -> Nodes:
    """Returns the maker of a module's nodes, given how a certificate reads the module's loops."""
    return Nodes(
        graph, {loop: readings[number] for number, loop in enumerate(module.operations()) if number in readings}
    )


def _of_one_shape(graph: Graph, merge: _Merge) -> _Merge:
    """Returns the nodes that a step makes equal; raises RefusedError for values of different shapes."""
    if graph.shape(merge.first) != graph.shape(merge.second):
        raise RefusedError("values of different shapes are called equal")
    return merge


def _checked(graph: Graph, elements: Elements, step: Step, given: Given | None = None) -> _Merge:
    """Returns the nodes that a step makes equal; raises RefusedError for a step that its rule does not justify."""
    check_deadline()
    if step.rule == "elements":
        # An array equals the array of its elements by definition, so the step claims nothing more.
        elements.value(step.before)
        return _Merge(Level.BITS, (node := graph.insert(step.before)), node)
    if step.rule in _REDUCERS:
        return _reduced(graph, step, Level.BITS, *reducer(step))
    if step.rule == PROMOTED.name:
        level, combiner = promoted(step)
        return _reduced(graph, step, _LEVELS[level], *combiner)
    if step.rule in OF_FUNCTIONS:
        return _by_functions(graph, step)
    check = CHECKS.get(step.rule)
    nodes = graph.insert(step.before), graph.insert(step.after)
    if step.predicate is not None:
        return _by_cases(graph, step, *nodes)
    if check is not None:
        return _Merge(check(step), *nodes)
    found = check_scalar(step.rule, step.before, step.after, None if given is None else given.holds)
    if found is None:
        raise RefusedError(f"{step.rule} does not make two terms equal at {step.where}")
    rule = try_rule(step.rule)
    if rule is not None and rule.is_elementwise and not all(graph.is_specified[node] for node in nodes):
        raise RefusedError(f"{step.rule} is applied to undefined padding at {step.where}")
    return _Merge(Level.ORDER if step.rule == ORDERED.name else _LEVELS[found], *nodes)


def _reduced(
    graph: Graph, step: Step, level: Level, function: Term, opcode: str, kind: ElementType, depth: int
) -> _Merge:
    """Returns two reductions that are equal if a function applies one opcode to its variables."""
    variables = [graph.make("leaf", ("bound", depth, i), ArrayShape(kind, ())) for i in range(2)]
    condition = graph.insert(function), graph.make("each", opcode, ArrayShape(kind, ()), variables)
    nodes = graph.insert(step.before), graph.insert(step.after)
    if level is not Level.BITS and not all(graph.is_specified[node] for node in nodes):
        raise RefusedError(f"{step.rule} is applied to undefined padding at {step.where}")
    return _Merge(level, *nodes, (condition,))


def _by_functions(graph: Graph, step: Step) -> _Merge:
    """Returns reduce(convert(x)) and convert(reduce(x)), equal if the function commutes with conversions."""
    level, (wide, narrow) = converted_function(step)
    (_, depth, kinds, _), (_, other_depth, others, _) = labels_of(wide, narrow)
    if depth != other_depth:
        raise RefusedError("the functions are nested otherwise")
    found: dict[int, int] = {}
    for number, shapes in enumerate(zip(kinds, others, strict=True)):
        variables = [graph.make("leaf", ("bound", depth, number), shape) for shape in shapes]
        found[variables[0]] = _converted(graph, variables[1], shapes[0])
    conditions = []
    for first, second in zip(wide.operands, narrow.operands, strict=True):
        expected = _converted(graph, graph.insert(second), first.shape)
        conditions.append((graph.substituted(graph.insert(first), found), expected))
    return _Merge(level, graph.insert(step.before), graph.insert(step.after), tuple(conditions))


def _converted(graph: Graph, node: int, shape: Shape) -> int:
    return node if graph.shape(node) == shape else graph.make("each", "convert", shape, [node])


def _by_cases(graph: Graph, step: Step, first: int, second: int) -> _Merge:
    """Returns two elementwise expressions, equal if they are equal with a predicate true and with it false."""
    predicate = graph.insert(step.predicate) if step.predicate is not None else first
    shape = graph.shape(predicate)
    if not isinstance(shape, ArrayShape) or shape.element_type.name != "pred":
        raise RefusedError("a proof by cases needs a truth value")
    if not graph.is_specified[first] or not graph.is_specified[second]:
        raise RefusedError("a proof by cases is about undefined padding")
    conditions = []
    for bits in (0, 1):
        scalar = graph.make("constant", bits, ArrayShape(shape.element_type, ()))
        known = graph.make("splat", None, shape, [scalar]) if shape.dimensions else scalar
        conditions.append((graph.substituted(first, {predicate: known}), graph.substituted(second, {predicate: known})))
    return _Merge(Level.BITS, first, second, tuple(conditions))


def _close(equality: Equality, merges: Iterable[_Merge]) -> None:
    """Merges the nodes of all steps at a level; a step with conditions once they hold."""
    waiting = [merge for merge in merges if merge.level <= equality.level]
    count = -1
    while count != len(waiting):
        count = len(waiting)
        held = [merge for merge in waiting if all(equality.same(*pair) for pair in merge.conditions)]
        equality.merge((merge.first, merge.second) for merge in held)
        done = {id(merge) for merge in held}
        waiting = [merge for merge in waiting if id(merge) not in done]


def _holds(equality: Equality, nodes: Nodes) -> bool:
    """Is true where all claims about how a module's loops are read hold."""
    if not all(equality.same(*claim) for claim in nodes.claims):
        return False
    free: dict[frozenset[int], set[int]] = {}
    for node, leaves in nodes.closed:
        if leaves not in free:
            free[leaves] = equality.without(leaves)
        if equality.find(node) not in free[leaves]:
            return False
    return True
