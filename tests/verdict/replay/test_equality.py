"""The three equalities: what follows from equal operands, and which operations observe more than an equality keeps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pytest

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, TupleShape
from dialect_utils.verdict.replay.equality import Equality, Level, _read
from dialect_utils.verdict.terms.graph import UNSPECIFIED, Graph
from dialect_utils.verdict.terms.primitives import ANY_ORDER

F32, S32, PRED = (ArrayShape(ELEMENT_TYPES[name], (4,)) for name in ("f32", "s32", "pred"))


class Source:
    """Two leaves, and operations on each of them."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.leaves = [self.graph.make("leaf", ("parameter", i), F32) for i in range(2)]

    def both(self, label: Hashable, shape: ArrayShape = F32) -> tuple[int, int]:
        """Returns an operation on the first and on the second leaf."""
        first, second = (self.graph.make("each", label, shape, [leaf]) for leaf in self.leaves)
        return first, second

    def equality(self, level: Level, merged: Level, programs: Sequence[Sequence[int]] = ()) -> Equality:
        """Returns an equality in which the leaves are equal from a level on."""
        found: Equality | None = None
        for each in Level:
            found = Equality(self.graph, each, found, programs)
            found.merge([(self.leaves[0], self.leaves[1])] if each >= merged else [])
            if each == level:
                break
        assert found is not None
        return found


@pytest.mark.parametrize("level", Level)
def test_operations_on_equal_operands_are_equal(level: Level) -> None:
    source = Source()
    pair = source.both("exponential")
    outer = [source.graph.make("each", "negate", F32, [each]) for each in pair]
    assert source.equality(level, level).same(*outer)
    assert not source.equality(level, level).same(pair[0], outer[0])


# Each label with the finest equality of its operands that makes its results equal in the coarsest one.
OBSERVERS: list[tuple[Hashable, ArrayShape, Level]] = [
    ("exponential", F32, Level.ENGINE),
    ("maximum", F32, Level.ENGINE),
    (("compare", "LT", False), PRED, Level.NAN),
    ("floor", F32, Level.NAN),
    ("sign", F32, Level.NAN),
    ("convert", S32, Level.NAN),
    (("compare", "LT", True), PRED, Level.BITS),
    (("bitcast-convert", ELEMENT_TYPES["s32"]), S32, Level.BITS),
    ("convert", ArrayShape(ELEMENT_TYPES["f4e2m1fn"], (4,)), Level.BITS),
]


@pytest.mark.parametrize(("label", "shape", "most"), OBSERVERS)
@pytest.mark.parametrize("merged", Level)
def test_an_observer_tells_what_an_equality_does_not_keep(
    label: Hashable, shape: ArrayShape, most: Level, merged: Level
) -> None:
    source = Source()
    pair = source.both(label, shape)
    assert source.equality(Level.ENGINE, merged).same(*pair) == (merged <= most)


def test_two_orders_of_one_sum_are_two_values_of_one_program_wherever_it_reads_them() -> None:
    """(3t - u) - u is not (3t - t) - t, although each subtraction reads one of t and u."""
    source = Source()
    first, second = source.leaves

    def minus_twice(start: int, other: int) -> int:
        once = source.graph.make("each", "subtract", F32, [source.graph.make("each", "negate", F32, [start]), other])
        return source.graph.make("each", "subtract", F32, [once, other])

    apart, itself, turned = minus_twice(first, second), minus_twice(first, first), minus_twice(second, second)
    for one, other, are_equal in ((itself, apart, False), (apart, itself, False), (itself, turned, True)):
        equality = source.equality(Level.ENGINE, Level.ENGINE, ([one], [other]))
        assert equality.same(first, second) == equality.same(one, other) == are_equal


def test_two_values_in_two_orders_are_related_one_to_one() -> None:
    """A normal form that both programs lack may be equal to one value of each of them only."""
    graph = Graph()
    leaves = [graph.make("leaf", ("parameter", i), F32) for i in range(5)]
    normal, *sums = leaves
    programs = [graph.make("each", "subtract", F32, pair) for pair in (sums[:2], sums[2:])]
    exact = Equality(graph, Level.NAN, Equality(graph, Level.BITS, None))
    equality = Equality(graph, Level.ENGINE, exact, ([programs[0]], [programs[1]]))
    equality.merge((normal, each) for each in sums)
    assert [equality.same(normal, each) for each in sums] == [True, False, True, False]
    assert not equality.same(*programs)


def test_a_float_kept_in_a_wider_type_is_one_value_unless_it_is_read_otherwise() -> None:
    graph = Graph()
    wide = graph.make("leaf", ("parameter", 0), F32)
    narrow = graph.make("each", "convert", ArrayShape(ELEMENT_TYPES["bf16"], (4,)), [wide])
    again = graph.make("each", "convert", F32, [narrow])
    error = graph.make("each", "subtract", F32, [again, wide])
    nothing = graph.make("each", "subtract", F32, [wide, wide])
    for result, other, are_equal in ((again, wide, True), (error, nothing, False)):
        exact = Equality(graph, Level.NAN, Equality(graph, Level.BITS, None))
        equality = Equality(graph, Level.ENGINE, exact, ([result], [other]), [(again, wide)])
        equality.merge([(again, wide)])
        assert equality.same(result, other) == are_equal


def test_a_body_that_observes_makes_its_loop_observe() -> None:
    source = Source()
    graph, scalar = source.graph, ArrayShape(ELEMENT_TYPES["f32"], ())
    variable = graph.make("leaf", ("bound", 0, 0), scalar)
    for label, shape, is_same in (("negate", F32, True), (("compare", "LT", True), PRED, False)):
        element_type = ArrayShape(shape.element_type, ())
        body = graph.make("each", label, element_type, [variable] * (1 if label == "negate" else 2))
        function = graph.make("op", ("function", 0, (scalar,), 1), F32, [body])
        pair = [graph.make("op", ("reduce", None), F32, [leaf, function]) for leaf in source.leaves]
        loops = [graph.make("op", ("while", 0, (1, 1), None), F32, [leaf, body]) for leaf in source.leaves]
        equality = source.equality(Level.NAN, Level.NAN)
        assert equality.same(*pair) == equality.same(*loops) == is_same


def test_the_initial_state_of_a_loop_is_not_part_of_its_body() -> None:
    """A state that observes a bit is a value, which no iteration computes again."""
    source = Source()
    first = source.leaves[0]
    observed = source.graph.make("each", ("compare", "LT", True), PRED, [first, first])
    body = source.graph.make("leaf", ("bound", 0, 0), F32)
    loops = [source.graph.make("op", ("while", 0, (2, 1), None), F32, [observed, each, body]) for each in source.leaves]
    assert source.equality(Level.NAN, Level.NAN).same(*loops)


def test_users_of_each_term_of_a_class_follow_it() -> None:
    graph = Graph()
    leaves = [graph.make("leaf", ("parameter", i), F32) for i in range(4)]
    users = [graph.make("each", "negate", F32, [leaf]) for leaf in leaves]
    exact = Equality(graph, Level.BITS, None)
    exact.merge([(leaves[0], leaves[1]), (leaves[2], leaves[3])])
    equality = Equality(graph, Level.NAN, exact)
    equality.merge([(leaves[0], leaves[3])])
    assert all(equality.same(users[0], each) for each in users)


def test_only_loops_and_operations_with_functions_have_bodies() -> None:
    """An elementwise operation observes what its own label says, whatever computes its operands."""
    source = Source()
    scalar = ArrayShape(ELEMENT_TYPES["f32"], ())
    observed = source.graph.make("each", ("compare", "LT", True), PRED, [source.leaves[0]] * 2)
    function = source.graph.make("op", ("function", 0, (scalar,), 1), F32, [observed])
    for label in ("negate", ("while", 0, (1, 1), None)):
        pair = [source.graph.make("each", label, F32, [leaf, function]) for leaf in source.leaves]
        assert source.equality(Level.NAN, Level.NAN).same(*pair)


def test_a_class_is_specified_by_any_of_its_terms() -> None:
    source = Source()
    undefined = source.graph.make("leaf", UNSPECIFIED, F32)
    reads = source.graph.make("each", "negate", F32, [undefined])
    equality = Equality(source.graph, Level.BITS, None)
    assert equality.find(reads) not in equality.without(frozenset([undefined]))
    equality.merge([(reads, source.leaves[0])])
    assert equality.find(reads) in equality.without(frozenset([undefined]))


def test_two_orders_that_are_rounded_on_their_way_are_two_values() -> None:
    graph = Graph()
    total = graph.make("leaf", ("parameter", 0), F32)
    rounded = []
    for order in ("rows", "columns"):
        ordered = graph.make("each", (ANY_ORDER, order), F32, [total])
        narrow = graph.make("each", "convert", ArrayShape(ELEMENT_TYPES["bf16"], (4,)), [ordered])
        rounded.append((ordered, graph.make("each", "convert", F32, [narrow])))
    (first, one), (second, two) = rounded
    apart, nothing = (graph.make("each", "subtract", F32, [one, other]) for other in (two, one))
    for programs, are_equal in ((([one], [two]), True), (([apart], [nothing]), False)):
        found: Equality | None = None
        for level in (Level.BITS, Level.NAN, Level.ORDER):
            found = Equality(graph, level, found, programs)
            found.merge([(first, total), (second, total)] if level is Level.ORDER else [])
        assert found is not None
        assert found.same(programs[0][0], programs[1][0]) == are_equal


def test_an_operand_that_observes_is_no_body() -> None:
    source = Source()
    observed = source.graph.make("each", ("compare", "LT", True), PRED, [source.leaves[0]] * 2)
    inner = source.graph.make("op", ("reverse", frozenset({0})), PRED, [observed])
    pair = [source.graph.make("op", ("reduce", None), F32, [leaf, inner]) for leaf in source.leaves]
    assert source.equality(Level.NAN, Level.NAN).same(*pair)


def test_users_without_a_partner_follow_two_merges() -> None:
    graph = Graph()
    first, second, third = (graph.make("leaf", ("parameter", i), F32) for i in range(3))
    user = graph.make("each", "negate", F32, [first])
    graph.make("each", "cosine", F32, [second])
    partner, *_ = (graph.make("each", label, F32, [third]) for label in ("negate", "sine", "exponential"))
    equality = Equality(graph, Level.BITS, None)
    for pair in ((first, second), (second, third)):
        equality.merge([pair])
    assert equality.same(user, partner)
    exact = Equality(graph, Level.BITS, None)
    exact.merge([(first, second)])
    coarser = Equality(graph, Level.NAN, exact)
    coarser.merge([(second, third)])
    assert coarser.same(user, partner)


def test_a_normal_form_with_many_users_keeps_the_value_that_it_is_equal_to() -> None:
    graph = Graph()
    normal, one, two = (graph.make("leaf", ("parameter", i), F32) for i in range(3))
    for label in ("negate", "sine", "cosine"):
        graph.make("each", label, F32, [normal])
    program = [graph.make("each", "subtract", F32, [one, two])]
    exact = Equality(graph, Level.NAN, Equality(graph, Level.BITS, None))
    equality = Equality(graph, Level.ENGINE, exact, (program, program))
    equality.merge([(normal, one), (normal, two)])
    assert equality.same(normal, one)
    assert not equality.same(one, two)


def test_a_term_is_specified_if_all_operands_are() -> None:
    source = Source()
    undefined = source.graph.make("leaf", UNSPECIFIED, F32)
    inner, mixed, whole = (
        source.graph.make("each", label, F32, operands)
        for label, operands in (
            ("negate", source.leaves[:1]),
            ("add", [source.leaves[0], undefined]),
            ("add", source.leaves),
        )
    )
    outer = source.graph.make("each", "multiply", F32, [inner, whole])
    assert Equality(source.graph, Level.BITS, None).without(frozenset([undefined])) == {
        *source.leaves, inner, whole, outer
    }  # fmt: skip
    assert mixed != outer


def test_a_sum_in_the_order_of_the_engine_reads_the_terms_of_the_sum() -> None:
    source = Source()
    graph = source.graph
    made = graph.make("op", ("reduce", None), TupleShape((F32,)), source.leaves)
    moved = graph.make("moved", "transpose", F32, [graph.make("out", 0, F32, [made])])
    assert [*_read(graph, graph.make("each", (ANY_ORDER, "rows"), F32, [moved]))] == source.leaves
