"""Counterparts of two modules: each instruction of the second one is paired with the same one of the first."""

from __future__ import annotations

import re

import pytest

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.tracing import Counterparts, op_name
from tests.history.texts import PROGRAM, entry, graph, value


def pairs(before: FlatGraph, after: FlatGraph) -> dict[str, str]:
    """Returns the name before of each node after that is not new."""
    found = Counterparts.of(before, after)
    return {node.name: old.name for node in after.nodes if (old := found.get(node)) is not None}


def renamed(text: str) -> str:
    """Returns a module in which each instruction has another name: names in the other order of the alphabet."""
    names = dict.fromkeys(re.findall(r"^ *(?:ROOT )?(\w+) = ", text, re.MULTILINE))
    other = {name: f"n{len(names) - number}" for number, name in enumerate(names)}
    return re.sub(r"\b\w+\b", lambda found: other.get(found[0], found[0]), text)


def test_a_module_is_its_own_counterpart() -> None:
    one, other = graph(PROGRAM), graph(PROGRAM)
    assert pairs(one, other) == {node.name: node.name for node in one.nodes}


def test_names_do_not_pair_instructions() -> None:
    one = graph(PROGRAM)
    other = graph(renamed(PROGRAM))
    positions = {node.name: number for number, node in enumerate(one.nodes)}
    found = pairs(one, other)
    assert len(found) == len(one.nodes)
    assert [positions[found[node.name]] for node in other.nodes] == list(range(len(one.nodes)))


X = "x = f32[4,8]{1,0} parameter(0)"
SINE, COSINE = "a = f32[4,8]{1,0} sine(x)", "b = f32[4,8]{1,0} cosine(x)"


def test_a_new_instruction_has_no_counterpart() -> None:
    before = entry(X, SINE, "ROOT r = f32[4,8]{1,0} negate(a)")
    after = entry(X, SINE, COSINE, "s = f32[4,8]{1,0} add(a, b)", "ROOT r = f32[4,8]{1,0} negate(s)")
    assert pairs(before, after) == {"x": "x", "a": "a", "r": "r"}


def test_an_exchange_of_names_is_no_exchange_of_instructions() -> None:
    before = entry(X, SINE, COSINE, "ROOT r = f32[4,8]{1,0} subtract(a, b)")
    after = entry(
        X, "b = f32[4,8]{1,0} sine(x)", "a = f32[4,8]{1,0} cosine(x)", "ROOT r = f32[4,8]{1,0} subtract(b, a)"
    )
    assert pairs(before, after) == {"x": "x", "b": "a", "a": "b", "r": "r"}


def test_equal_expressions_are_paired_by_their_names_and_may_be_duplicated() -> None:
    before = entry(X, SINE, "ROOT r = f32[4,8]{1,0} negate(a)")
    after = entry(
        X,
        "a.1 = f32[4,8]{1,0} sine(x)",
        "a = f32[4,8]{1,0} sine(x)",
        "s = f32[4,8]{1,0} add(a, a.1)",
        "ROOT r = f32[4,8]{1,0} negate(s)",
    )
    assert pairs(before, after) == {"x": "x", "a": "a", "a.1": "a", "r": "r"}


def test_an_attribute_that_passes_change_does_not_matter_and_others_do() -> None:
    table, at = "t = f32[8,4]{1,0} parameter(0)", "i = s32[3]{0} parameter(1)"
    gather = (
        "ROOT g = f32[3,4]{1,0} gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1,4}"
    )
    before = entry(table, at, gather)
    assert pairs(before, entry(table, at, gather + ', metadata={op_name="f/g"}'))["g"] == "g"
    pair = (
        "one = f32[4,8]{1,0} iota(), iota_dimension=0",
        "two = f32[4,8]{1,0} iota(), iota_dimension=1",
        "ROOT r = f32[4,8]{1,0} subtract(one, two)",
    )
    other = tuple(line.replace("one", "q").replace("two", "one").replace("q", "two") for line in pair)
    swapped = entry(*other[1::-1], other[2].replace("subtract(two, one)", "subtract(two, one)"))
    assert pairs(entry(*pair), swapped) == {"one": "two", "two": "one", "r": "r"}


def test_operations_whose_type_changes_are_paired_by_their_operands() -> None:
    head, tail = (X, SINE, COSINE), "ROOT t = (bf16[4,8], bf16[4,8]) tuple(n, m)"
    before = entry(*head, "n = bf16[4,8]{1,0} convert(a)", "m = bf16[4,8]{1,0} convert(b)", tail)
    after = entry(
        *head,
        "p = f16[4,8]{1,0} convert(b)",
        "q = f16[4,8]{1,0} convert(a)",
        "ROOT t = (f16[4,8], f16[4,8]) tuple(q, p)",
    )
    assert pairs(before, after) == {"x": "x", "a": "a", "b": "b", "q": "n", "p": "m", "t": "t"}


def test_one_of_two_operations_that_nothing_distinguishes_is_new() -> None:
    before = entry(
        X,
        SINE,
        COSINE,
        "n = f32[4,8]{1,0} negate(a)",
        "m = f32[4,8]{1,0} negate(b)",
        "ROOT t = (f32[4,8], f32[4,8]) tuple(n, m)",
    )
    after = entry(
        X,
        SINE,
        COSINE,
        "y = f32[4,8]{1,0} add(a, b)",
        "q = f32[4,8]{1,0} negate(y)",
        "ROOT t = (f32[4,8], f32[4,8], f32[4,8]) tuple(a, b, q)",
    )
    assert "q" not in pairs(before, after)


MOVED = "c = f32[4,8]{0,1} copy(x)"


@pytest.mark.parametrize(
    ("line", "is_same"),
    [
        ("c = f32[4,8]{0,1} copy(x)", True),
        ("d = f32[4,8]{0,1} copy(x)", True),
        # Another opcode or another size is another instruction.
        ("c = f32[8,4]{0,1} transpose(x), dimensions={1,0}", False),
        ("c = f32[4,8]{0,1:S(1)} copy(x)", True),
    ],
)
def test_a_move_is_the_move_of_the_same_array(line: str, is_same: bool) -> None:
    name = line.split(" ")[0]
    before = entry(X, MOVED, "ROOT r = f32[4,8]{0,1} negate(c)")
    shape = line.split(" ")[2]
    after = entry(X, line, f"ROOT r = {shape} negate({name})")
    assert (name in pairs(before, after)) == is_same


def test_a_move_of_another_array_is_new() -> None:
    before = entry(X, SINE, COSINE, "c = f32[4,8]{0,1} copy(a)", "ROOT t = (f32[4,8], f32[4,8]) tuple(c, b)")
    after = entry(X, SINE, COSINE, "c = f32[4,8]{0,1} copy(b)", "ROOT t = (f32[4,8], f32[4,8]) tuple(a, c)")
    assert "c" not in pairs(before, after)


def test_a_move_keeps_its_readers_where_two_moves_are_alike() -> None:
    lines = [
        X,
        "c = f32[4,8]{0,1} copy(x)",
        "d = f32[4,8]{0,1} copy(x)",
        "n = f32[4,8]{0,1} negate(c)",
        "e = f32[4,8]{0,1} exponential(d)",
        "ROOT s = f32[4,8]{0,1} add(n, e)",
    ]
    swapped = [line.replace("(c)", "(q)").replace("(d)", "(c)").replace("(q)", "(d)") for line in lines]
    assert {name: pairs(entry(*lines), entry(*swapped))[name] for name in "cd"} == {"c": "d", "d": "c"}


def test_a_new_move_replaces_a_move_that_is_gone() -> None:
    before = entry(X, "t = f32[8,4]{1,0} transpose(x), dimensions={1,0}", "ROOT r = f32[8,4]{1,0} negate(t)")
    after = entry(X, "c = f32[4,8]{0,1} copy(x)", "b = f32[8,4]{1,0} bitcast(c)", "ROOT r = f32[8,4]{1,0} negate(b)")
    found = Counterparts.of(before, after)
    assert found.get(value(after, "c")) is None
    replaced = found.replaced(value(after, "c"))
    assert replaced is not None
    assert replaced.name == "t"


def test_a_move_that_stays_is_not_replaced() -> None:
    before = entry(X, MOVED, "ROOT r = f32[4,8]{0,1} negate(c)")
    after = entry(
        X,
        MOVED,
        "n = f32[4,8]{0,1} negate(c)",
        "d = f32[4,8]{1,0} copy(x)",
        "f = f32[4,8]{1,0} sine(d)",
        "ROOT t = (f32[4,8], f32[4,8]) tuple(n, f)",
    )
    found = Counterparts.of(before, after)
    assert found.get(value(after, "d")) is None
    assert found.replaced(value(after, "d")) is None


def test_the_op_name_is_that_of_the_metadata() -> None:
    found = entry(X, 'ROOT a = f32[4,8]{1,0} sine(x), metadata={op_name="jit(f)/sin" source_line=3}')
    assert op_name(value(found, "a")) == "jit(f)/sin"
    assert op_name(value(found, "x")) == ""
