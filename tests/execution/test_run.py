import pytest

from dialect_utils.execution import prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError

TILED_HLO = """HloModule m, entry_computation_layout={(f32[3,5]{0,1:T(2,2)})->f32[5,3]{1,0:T(2,2)S(1)}}

ENTRY e {
  p = f32[3,5]{0,1:T(2,2)} parameter(0)
  ROOT q = f32[5,3]{1,0:T(2,2)S(1)} transpose(p), dimensions={1,0}
}
"""

TILED_MLIR = """func.func @main(%p: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> tensor<5x3xf32> {
  %0 = stablehlo.transpose %p, dims = [1, 0] {xla_shape = "f32[5,3]{1,0:T(2,2)}"} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
"""

LOOP = """HloModule m
c {{
  p = {0} parameter(0)
  ROOT r = pred[] constant(false)
}}
b {{
  ROOT p = {0} parameter(0)
}}
ENTRY e {{
  p = {0} parameter(0)
  w = {0} while(p), condition=c, body=b
  ROOT r = s32[] constant(0)
}}
"""

REJECTED = {
    "q = f32[12] bitcast(p)": "m.hlo:4:3: error: a bitcast reads bytes",
    "q = (f32[4,3], f32[4,3], u32[]) copy-start(p)": "m.hlo:4:3: error: XLA:CPU does not execute copy-start",
    "q = f32[4]{0} constant({...})": "m.hlo:4:17: error: the constant is elided",
    "q = token[] outfeed(p, t)": "m.hlo:4:3: error: outfeed waits for another program",
}


@pytest.mark.parametrize("text", [TILED_HLO, TILED_MLIR], ids=["hlo", "stablehlo"])
def test_nothing_prepared_has_a_tile(text: str) -> None:
    module = parse_bytes(text.encode(), "m")
    program = prepare(module, "m")
    assert "T(2,2)" in module.text()
    assert "T(" not in str(program.text)
    assert program.name == "m (without layouts)"


def test_a_text_without_layouts_keeps_its_name() -> None:
    text = "HloModule m\nENTRY e {\n  ROOT  p = f32[3] parameter(0)\n}\n"
    program = prepare(parse_bytes(text.encode(), "m.hlo"), "m.hlo")
    assert (program.text, program.name) == (text, "m.hlo")


def test_the_layout_of_the_entry_alone_is_dropped_too() -> None:
    shape = "f32[3,5]{0,1:T(2,2)}"
    header = f"HloModule m, entry_computation_layout={{({shape})->{shape}}}"
    text = f"{header}\nENTRY e {{\n  ROOT p = f32[3,5] parameter(0)\n}}\n"
    assert "T(" not in str(prepare(parse_bytes(text.encode(), "m"), "m").text)


def test_negative_zeros_are_written_in_the_constant_only() -> None:
    text = 'HloModule m\nENTRY e {\n  ROOT c = f32[2] constant({-0, 1}), metadata={op_name="a -0 (-0)"}\n}\n'
    program = prepare(parse_bytes(text.encode(), "m"), "m").text
    assert 'constant({-0.0, 1}), metadata={op_name="a -0 (-0)"}' in str(program)


def test_negative_zeros_of_floats_are_written_so_that_xla_reads_them() -> None:
    text = "HloModule m\nENTRY e {\n  c = f32[3] constant({-0, 0, -0.5})\n  ROOT d = s32[] constant(-0)\n}\n"
    program = str(prepare(parse_bytes(text.encode(), "m"), "m").text)
    assert "constant({-0.0, 0, -0.5})" in program
    assert "constant(-0)" in program


def test_a_lone_computation_becomes_a_module() -> None:
    text = "%c (p: f32[3]) -> f32[3] {\n  ROOT %p = f32[3] parameter(0)\n}\n"
    program = prepare(parse_bytes(text.encode(), "m.hlo"), "m.hlo")
    assert (program.text, program.name) == (f"HloModule fragment\n\n{text}", "m.hlo (as a module)")


@pytest.mark.parametrize("line", REJECTED)
def test_modules_that_must_not_reach_jaxlib_are_rejected_with_locations(line: str) -> None:
    text = f"HloModule m\nENTRY e {{\n  p = f32[4,3] parameter(0)\n  {line}\n  t = token[] after-all()\n"
    if "outfeed" in line:
        text = text.replace("  t = token[] after-all()\n", "").replace("outfeed(p, t)", "outfeed(p, p)")
    module = parse_bytes((text + "  ROOT r = f32[4,3] negate(p)\n}\n").encode(), "m.hlo")
    with pytest.raises(DiagnosticError) as caught:
        prepare(module, "m.hlo")
    assert str(caught.value).startswith(REJECTED[line])


def test_a_function_without_a_body_is_not_called() -> None:
    text = """func.func private @g(tensor<f32>) -> tensor<f32>
    func.func @main(%p: tensor<f32>) -> tensor<f32> {
      %0 = call @g(%p) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    """
    with pytest.raises(DiagnosticError, match="m:3:12: error: call of g, which has no body"):
        prepare(parse_bytes(text.encode(), "m"), "m")


def test_any_depth_of_calls_is_accepted() -> None:
    chain = "".join(
        f"level_{i + 1} {{\n  p = f32[] parameter(0)\n  ROOT q = f32[] call(p), to_apply=level_{i}\n}}\n"
        for i in range(2000)
    )
    text = "HloModule m\nlevel_0 {\n  ROOT p = f32[] parameter(0)\n}\n" + chain
    text += "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT q = f32[] call(p), to_apply=level_2000\n}\n"
    assert prepare(parse_bytes(text.encode(), "m"), "m").text == text


def test_recursion_is_rejected() -> None:
    text = """func.func @main(%p: tensor<f32>) -> tensor<f32> {
      %0 = call @f(%p) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @f(%p: tensor<f32>) -> tensor<f32> {
      %0 = call @f(%p) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    with pytest.raises(DiagnosticError, match="f calls itself"):
        prepare(parse_bytes(text.encode(), "m.mlir"), "m.mlir")


def test_xla_crashes_on_a_loop_over_one_dynamic_array() -> None:
    one, two = (parse_bytes(LOOP.format(state).encode(), "m") for state in ("(f32[<=4])", "(f32[<=4], s32[])"))
    assert prepare(two, "m").text
    with pytest.raises(DiagnosticError, match=r"m:11:3: error: .* whose only value is .* dynamic size, f32\[<=4\]"):
        prepare(one, "m")


def test_xla_crashes_on_an_all_to_all_of_one_array_in_a_tuple() -> None:
    body = "p = f32[4] parameter(0)\n  ROOT r = (f32[4]) all-to-all(p), replica_groups={{0}}"
    module = parse_bytes(f"HloModule m\nENTRY e {{\n  {body}\n}}\n".encode(), "m")
    with pytest.raises(DiagnosticError, match="ends on an all-to-all of one array in a tuple"):
        prepare(module, "m")
