"""Transposes of XLA:GPU, which gives all arrays the default layout, are the copies and transposes before that pass."""

from __future__ import annotations

import pytest

from dialect_utils.history.moved import consumers, producer
from dialect_utils.history.removal import Removal, removal
from dialect_utils.history.tracing import Counterparts, Introduced
from dialect_utils.layout import parse_array_shape
from tests.history.texts import PROGRAM, entry, graph, names, value

X = "x = f32[4,8,2]{2,1,0} parameter(0)"
CALL = 'ROOT r = f32[4,8,2]{{0,2,1}} custom-call({}), custom_call_target="__cudnn$convForward"'
COPIED = entry(X, "c = f32[4,8,2]{0,2,1} copy(x)", CALL.format("c"))


@pytest.mark.parametrize(
    ("order", "is_same"), [("1,2,0", True), ("1,0,2", False), ("2,0,1", False)], ids=["same", "other", "inverse"]
)
def test_a_transpose_is_the_copy_that_moves_the_same_elements(order: str, is_same: bool) -> None:
    sizes = ",".join(str((4, 8, 2)[int(each)]) for each in order.split(","))
    move = f"t = f32[{sizes}]{{2,1,0}} transpose(x), dimensions={{{order}}}"
    after = entry(X, move, "b = f32[4,8,2]{0,2,1} bitcast(t)", CALL.format("b"))
    found = Counterparts.of(COPIED, after).get(value(after, "t"))
    assert found is (value(COPIED, "c") if is_same else None)


def test_a_transpose_of_merged_dimensions_is_the_transpose_of_all() -> None:
    before = entry(X, "t = f32[2,4,8]{2,1,0} transpose(x), dimensions={2,0,1}", CALL.format("t"))
    flat = ("b = f32[32,2]{1,0} bitcast(x)", "u = f32[2,32]{1,0} transpose(b), dimensions={1,0}")
    after = entry(X, *flat, "d = f32[2,4,8]{2,1,0} bitcast(u)", CALL.format("d"))
    assert Counterparts.of(before, after).get(value(after, "u")) is value(before, "t")


@pytest.mark.parametrize("is_after", [False, True], ids=["moved up", "moved down"])
def test_a_move_may_pass_an_operation(is_after: bool) -> None:
    first = entry(X, "c = f32[4,8,2]{0,2,1} copy(x)", "s = f32[4,8,2]{0,2,1} sine(c)", CALL.format("s"))
    second = entry(X, "s = f32[4,8,2]{2,1,0} sine(x)", "d = f32[4,8,2]{0,2,1} copy(s)", CALL.format("d"))
    before, after, old, new = (first, second, "c", "d") if is_after else (second, first, "d", "c")
    assert Counterparts.of(before, after).get(value(after, new)) is value(before, old)


def test_of_copies_that_a_pass_joins_the_one_for_the_firmest_reader_is_the_counterpart() -> None:
    both = "s = f32[4,8,2]{0,2,1} subtract(%s, k)", CALL.replace("ROOT ", "").format("%s")
    out = "ROOT o = (f32[4,8,2]{0,2,1}, f32[4,8,2]{0,2,1}) tuple(r, s)"
    copies = "c = f32[4,8,2]{0,2,1} copy(x)", "d = f32[4,8,2]{0,2,1} copy(x)"
    k = "k = f32[4,8,2]{0,2,1} parameter(1)"
    before = entry(X, k, *copies, both[0] % "c", both[1] % "d", out)
    after = entry(X, k, copies[0].replace("c =", "e ="), both[0] % "e", both[1] % "e", out)
    assert Counterparts.of(before, after).get(value(after, "e")) is value(before, "d")


def test_a_call_that_says_where_parts_are_is_passed_over() -> None:
    sharded = 'ROOT s = f32[4,8,2]{0,2,1} custom-call(c), custom_call_target="xla.sdy.FuncResultSharding"'
    found = entry(X, "c = f32[4,8,2]{0,2,1} copy(x)", sharded)
    assert found.results == [value(found, "c")]


def test_layouts_that_are_not_assigned_yet_are_not_said() -> None:
    # A program's own transpose keeps the bytes there, and the reshape of its result moves them.
    found = entry(
        X,
        "t = f32[8,2,4]{1,0,2} transpose(x), dimensions={1,2,0}",
        "m = f32[16,4]{1,0} reshape(t)",
        "n = f32[16,4]{1,0} convert(m)",
        "w = f32[4,3]{1,0} parameter(1)",
        "ROOT d = f32[16,3]{1,0} dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    )
    moved = Introduced(0, found, value(found, "t"))
    [side] = consumers(moved)
    assert (str(side), side.shape) == ("d (dot)", "f32[8,2,4]")
    [side] = consumers(moved, parse_array_shape("f32[8,2,4]{2,1,0}"))
    assert side.shape == "f32[8,2,4]{2,1,0}"


def test_a_library_call_has_its_target_and_its_result_is_its_own() -> None:
    found = entry(
        X,
        'k = (f32[4,8,2]{0,2,1}, u8[64]{0}) custom-call(x), custom_call_target="__cudnn$convForward"',
        "g = f32[4,8,2]{0,2,1} get-tuple-element(k), index=0",
        "ROOT c = f32[4,8,2]{2,1,0} copy(g)",
    )
    assert str(producer(Introduced(0, found, value(found, "c")))) == "k (custom-call to __cudnn$convForward)"


def removed(*lines: str, compiler: str | None = "gpu") -> Removal | None:
    found = entry(*lines)
    return removal(Introduced(0, found, value(found, "t")), compiler)


TRANSPOSED = "t = f32[2,4,8]{2,1,0} transpose(x), dimensions={2,0,1}"


@pytest.mark.parametrize("compiler", ["gpu", "tpu", None])
def test_an_argument_comes_in_the_order_of_its_transpose_on_a_gpu(compiler: str | None) -> None:
    found = removed(X, TRANSPOSED, CALL.format("t"), compiler=compiler)
    if compiler != "gpu":
        assert found is None
        return
    assert found is not None
    assert (found.action, found.number, found.major_to_minor) == ("argument layout", 0, (2, 0, 1))


def test_a_result_goes_out_in_the_order_before_its_transpose() -> None:
    call = 'k = f32[4,8,2]{2,1,0} custom-call(x), custom_call_target="f"'
    found = removed(X, call, TRANSPOSED.replace("(x)", "(k)"), "ROOT r = f32[2,4,8]{2,1,0} negate(t)")
    assert found is not None
    # Dimensions 1, 2 and 0 of the result are dimensions 0, 1 and 2 before the transpose.
    assert (found.action, found.number, found.major_to_minor) == ("result layout", 0, (1, 2, 0))


@pytest.mark.parametrize(
    "reader",
    [
        'ROOT r = f32[2,4,8]{2,1,0} custom-call(t), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}',
        "u = f32[1,4,8]{2,1,0} slice(t), slice={[0:1], [0:4], [0:8]}\n  z = s32[] constant(0)\n"
        "  w = f32[2,4,8]{2,1,0} dynamic-update-slice(t, u, z, z, z)\n  ROOT q = f32[4,8]{1,0} custom-call(w), "
        'custom_call_target="f"',
    ],
    ids=["call", "update"],
)
def test_an_array_that_is_written_over_has_to_be_copied(reader: str) -> None:
    assert removed(X, TRANSPOSED, reader) is None


@pytest.mark.parametrize(("body", "is_kept"), [("sine(v)", False), ("copy(v)", True)])
def test_a_state_that_a_loop_changes_has_to_be_copied(body: str, is_kept: bool) -> None:
    text = PROGRAM.replace("w = f32[4,8]{0,1} sine(v)", f"w = f32[4,8]{{0,1}} {body}").replace(
        "tuple(zero, k)", "tuple(zero, q)"
    )
    text = text.replace("  state =", "  q = f32[4,8]{0,1} copy(x)\n  state =").replace("fusion(x)", "fusion(x0)")
    text = text.replace("  x = ", "  x0 = f32[4,8]{1,0} parameter(1)\n  x = ")
    if is_kept:
        text = text.replace("tuple(next, w)", "tuple(next, v)")
    found = graph(text)
    change = removal(Introduced(0, found, value(found, "q")), "gpu")
    assert (change is not None) is is_kept


def test_the_chain_of_moves_ends_in_the_array() -> None:
    found = entry(X, TRANSPOSED, "b = f32[64]{0} bitcast(t)", "ROOT r = f32[64]{0} negate(b)")
    assert names(found.moves_to(value(found, "b"))) == ["b", "t", "x"]


@pytest.mark.parametrize(("results", "is_kept"), [("v, w", True), ("w, v", False)], ids=["kept", "exchanged"])
def test_two_states_that_a_loop_exchanges_have_to_be_copied(results: str, is_kept: bool) -> None:
    state = "(f32[4,8]{0,1}, f32[4,8]{0,1})"
    found = graph(
        f"""HloModule m

condition {{
  s = {state} parameter(0)
  ROOT less = pred[] constant(false)
}}

body {{
  t = {state} parameter(0)
  v = f32[4,8]{{0,1}} get-tuple-element(t), index=0
  w = f32[4,8]{{0,1}} get-tuple-element(t), index=1
  ROOT u = {state} tuple({results})
}}

ENTRY e {{
  x = f32[4,8]{{1,0}} parameter(0)
  y = f32[4,8]{{0,1}} parameter(1)
  q = f32[4,8]{{0,1}} copy(x)
  both = {state} tuple(q, y)
  loop = {state} while(both), condition=condition, body=body
  r = f32[4,8]{{0,1}} get-tuple-element(loop), index=1
  ROOT n = f32[4,8]{{0,1}} negate(r)
}}
"""
    )
    change = removal(Introduced(0, found, value(found, "q")), "gpu")
    assert (change is not None) is is_kept
