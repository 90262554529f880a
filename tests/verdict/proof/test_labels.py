"""Every attribute of an operation is in its label, unless its declaration says that it cannot affect the result.

`tests.campaign_labels` changes attributes; a few programs of it run here, and omissions are planted.
"""

from __future__ import annotations

import dataclasses

import pytest

from dialect_utils.ir import Operation
from dialect_utils.ops import attributes_of
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.terms import labels
from dialect_utils.verdict.terms.labels import elementwise_label, key_of
from tests import campaign_labels
from tests.verdict.proof.dialects import parse

SUM = """  y = f32[8] reverse(x), dimensions={0}
  z = f32[] constant(0)
  s = f32[] reduce(ORDERED, z), dimensions={0}, to_apply=add
"""
HEAD = "HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"


def operation(text: str, opcode: str) -> Operation:
    return next(each for each in parse(text).entry.operations if each.opcode == opcode)


def is_proved(first: str, second: str) -> bool:
    return prove([parse(first), parse(second)]).answer == "equal"


def called(more: str, opcode: str = "custom-call") -> str:
    start = opcode.endswith("-start")
    shape = "((f32[4]), f32[4], u32[])" if start else "f32[4]"
    end = "  ROOT d = f32[4] custom-call-done(s)\n" if start else "  ROOT d = f32[4] copy(s)\n"
    line = f'  s = {shape} {opcode}(x), custom_call_target="f"{more}\n'
    return f"HloModule m\nENTRY e {{\n  x = f32[4] parameter(0)\n{line}{end}}}\n"


@pytest.mark.parametrize("opcode", ["custom-call", "custom-call-start"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (', backend_config="a"', ', backend_config="b"'),
        ("", ', frontend_attributes={a="b"}'),
        ("", ", sharding={replicated}"),
        ("", ', backend_config="{}"'),
        (', backend_config="1.0"', ', backend_config="1.00"'),
        (', backend_config="a b"', ', backend_config="ab"'),
        (', backend_config="http://a"', ', backend_config="http://b"'),
        (', backend_config="\\377"', ', backend_config="\u00ff"'),
    ],
)
def test_what_a_custom_call_gets_counts(opcode: str, first: str, second: str) -> None:
    assert is_proved(called(first, opcode), called(first, opcode))
    assert not is_proved(called(first, opcode), called(second, opcode))


@pytest.mark.parametrize(
    ("first", "second"),
    [("a b", "ab"), ("http://a", "http://b"), ("a/*b*/", "a"), ("1.0", "1.00"), ("\\FF", "\\\\xff"), ("1 : i32", "1")],
)
def test_a_string_of_stablehlo_is_bytes(first: str, second: str) -> None:
    def text(config: str) -> str:
        kind = "tensor<4xf32>"
        call = f'%r = stablehlo.custom_call @t(%x) {{backend_config = "{config}"}} : ({kind}) -> {kind}'
        return f"func.func @main(%x: {kind}) -> {kind} {{\n  {call}\n  return %r : {kind}\n}}\n"

    assert is_proved(text(first), text(first))
    assert not is_proved(text(first), text(second))


@pytest.mark.parametrize("observer", ["convert(s)", "sign(s)", "is-finite(s)", "floor(s)"])
@pytest.mark.parametrize("note", ["", ", unknown_attribute=1"])
def test_an_attribute_hides_no_observer(observer: str, note: str) -> None:
    kind = {"convert(s)": "s32", "is-finite(s)": "pred"}.get(observer, "f32")

    def text(array: str, made: str) -> str:
        body = SUM.replace("ORDERED", array)
        return f"{HEAD}ENTRY e {{\n  x = f32[8] parameter(0)\n{body}  ROOT r = {kind}[] {made}\n}}\n"

    first, second = text("x", observer + note), text("y", observer + note)
    assert is_proved(first, first)
    assert not is_proved(first, second)
    # A negation observes nothing.
    if kind == "f32":
        assert is_proved(text("x", "negate(s)" + note), text("y", "negate(s)" + note))


@pytest.mark.parametrize("name", ["is_inf", "is_pos_inf", "is_neg_inf"])
def test_an_infinity_is_observed(name: str) -> None:
    def text(array: str) -> str:
        reduced = f"stablehlo.reduce({array} init: %z) applies stablehlo.add across dimensions = [0]"
        return f"""func.func @main(%x: tensor<8xf32>) -> tensor<i1> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
  %s = {reduced} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %r = chlo.{name} %s : tensor<f32> -> tensor<i1>
  return %r : tensor<i1>
}}
"""

    assert is_proved(text("%x"), text("%x"))
    assert not is_proved(text("%x"), text("%y"))


def test_an_undeclared_attribute_equals_only_itself() -> None:
    def text(line: str) -> str:
        return f"HloModule m\nENTRY e {{\n  x = f32[4,4] parameter(0)\n  ROOT r = f32[4,4] {line}\n}}\n"

    for line in ("negate(x)", "transpose(x), dimensions={1,0}", "copy(x)", "reverse(x), dimensions={0}"):
        plain, first, second = (text(line + more) for more in ("", ", new=1", ", new=2"))
        assert is_proved(first, first)
        assert not any(is_proved(*pair) for pair in ((plain, first), (first, second), (first, plain)))
    label = elementwise_label(operation(text("negate(x), new=1"), "negate"))
    assert isinstance(label, tuple)
    assert label[0] == "negate"


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("name", ["rng", "dynamic_broadcast_in_dim"])
def test_sizes_count_where_the_type_does_not_have_them(name: str, dynamic: bool) -> None:
    made = {
        "rng": "stablehlo.rng %a, %a, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) ->",
        "dynamic_broadcast_in_dim": "stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, "
        "tensor<1xi64>) ->",
    }[name]
    kind = "tensor<?xf32>" if dynamic else "tensor<3xf32>"

    def text(sizes: str) -> str:
        reduced = f"stablehlo.reduce(%r init: %a) applies stablehlo.add across dimensions = [0] : ({kind}, tensor<f32>)"
        return f"""func.func @main(%a: tensor<f32>, %p: tensor<1xi64>, %q: tensor<1xi64>) -> tensor<f32> {{
  %r = {made.replace("%s", sizes)} {kind}
  %t = {reduced} -> tensor<f32>
  return %t : tensor<f32>
}}
"""

    first, second = (operation(text(each), name if name == "rng" else f"stablehlo.{name}") for each in ("%p", "%q"))
    assert (len(labels.counted(first)) == len(first.operands)) is dynamic
    assert key_of(first) == key_of(second)
    assert is_proved(text("%p"), text("%q")) is not dynamic


# Groups of four partitions along the axes of a mesh, and the lists that they mean.
MESHES = [
    ("@m", '#stablehlo.axis_ref<name = "x">', "{{0,2},{1,3}}"),
    ("@m", '#stablehlo.axis_ref<name = "y">', "{{0,1},{2,3}}"),
    ("@n", '#stablehlo.axis_ref<name = "y">', "{{3,2},{1,0}}"),
    (
        '#stablehlo.mesh<axes = [<name = "x", size = 2>, <name = "y", size = 2>]>',
        '#stablehlo.axis_ref<name = "x">',
        "{{0,2},{1,3}}",
    ),
]


def exchanged(groups: str) -> str:
    return f"""module @m attributes {{mhlo.num_partitions = 4 : i32}} {{
  sdy.mesh @m = <["x"=2, "y"=2]>
  sdy.mesh @n = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
  func.func public @main(%x: tensor<4xf32>) -> tensor<8xf32> {{
    %r = "stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, replica_groups = {groups}, channel_handle =
      #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> : (tensor<4xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }}
}}
"""


@pytest.mark.parametrize(("mesh", "axis", "lists"), MESHES)
def test_axes_of_a_mesh_are_lists_of_devices(mesh: str, axis: str, lists: str) -> None:
    written = exchanged(f"#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{axis}]>")
    rows = lists.replace("{", "[").replace("}", "]")
    assert is_proved(written, exchanged(f"dense<{rows}> : tensor<2x2xi64>"))
    others = {each for _, _, each in MESHES} - {lists}
    for other in others:
        rows = other.replace("{", "[").replace("}", "]")
        assert not is_proved(written, exchanged(f"dense<{rows}> : tensor<2x2xi64>"))


@pytest.mark.parametrize(
    "groups", ["mesh['x'=2,'y'=2] {'x'}", "mesh['x'=2,'y'=2] {'z'}", "[2,2]<=[2,2]T(1,0)", "{{},{0}}", "[0,4]<=[0]"]
)
@pytest.mark.parametrize("opcode", ["all-reduce", "all-reduce-start"])
def test_groups_that_are_not_read_are_not_all_devices(groups: str, opcode: str) -> None:
    def text(written: str) -> str:
        end = "  ROOT d = f32[4] all-reduce-done(r)\n" if "start" in opcode else "  ROOT d = f32[4] copy(r)\n"
        line = f"  r = f32[4] {opcode}(x), replica_groups={written}, to_apply=add\n"
        return f"{HEAD.replace(' m', ' m, replica_count=4', 1)}ENTRY e {{\n  x = f32[4] parameter(0)\n{line}{end}}}\n"

    assert is_proved(text(groups), text(groups))
    assert not any(is_proved(text(groups), text(other)) for other in ("{}", "{{0,1,2,3}}"))


def test_a_hundred_groups_of_stablehlo_are_read() -> None:
    def text(last: str) -> str:
        rows = ", ".join([*(f"[{2 * i}, {2 * i + 1}]" for i in range(126)), last])
        return exchanged(f"dense<[{rows}]> : tensor<128x2xi64>").replace("= 4 : i32", "= 256 : i32")

    first, second = text("[252, 253], [254, 255]"), text("[252, 254], [253, 255]")
    assert is_proved(first, first)
    assert not is_proved(first, second)


def test_the_largest_and_the_smallest_elements_differ() -> None:
    def text(more: str) -> str:
        line = f"t = (f32[4], s32[4]) topk(x), k=4{more}"
        return (
            f"HloModule m\nENTRY e {{\n  x = f32[16] parameter(0)\n  {line}\n"
            "  ROOT r = f32[4] get-tuple-element(t), index=0\n}\n"
        )

    assert is_proved(text(""), text(", largest=true"))
    assert not any(is_proved(text(first), text(", largest=false")) for first in ("", ", largest=true"))


def test_every_attribute_in_a_few_programs_counts() -> None:
    score = campaign_labels.campaign(every=9)
    assert score.wrong == []
    assert score.changes > 40


def test_a_planted_omission_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful = dataclasses.replace(attributes_of("fft")["fft_type"], unused="", default=("FFT", "IFFT"))
    monkeypatch.setattr(labels, "attributes_of", lambda name: {**attributes_of(name), "fft_type": forgetful})
    score = campaign_labels.campaign(only="fft of")
    assert score.wrong == ["fft of complex numbers (hlo): fft fft_type: FFT -> IFFT"]


def test_an_attribute_of_another_dialect_counts_even_with_a_name_of_hlo() -> None:
    def text(value: int) -> str:
        line = f'%r = "other.op"(%x) {{metadata = {value} : i32}} : (tensor<4xf32>) -> tensor<4xf32>'
        return f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  {line}\n  return %r : tensor<4xf32>\n}}\n"

    keys = [key_of(operation(text(value), "other.op")) for value in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]
