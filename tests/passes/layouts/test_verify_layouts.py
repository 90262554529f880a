import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from passes.layouts.verify_layouts import find_problems
from tests.hostile.nonsense import ACCEPTED, nonsense

HEAD = "HloModule m\n\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
HEAD += "  ROOT %c = f32[] add(%a, %b)\n}\n\n%less (l: f32[], r: f32[]) -> pred[] {\n  %l = f32[] parameter(0)\n"
HEAD += "  %r = f32[] parameter(1)\n  ROOT %s = pred[] compare(%l, %r), direction=LT\n}\n\n"
HEAD += "%id (i: f32[3,5]) -> f32[3,5] {\n  ROOT %i = f32[3,5] parameter(0)\n}\n\n"
ENTRY = "ENTRY %main {\n  %x = f32[3,5] parameter(0)\n  %z = f32[] constant(0)\n  %n = s32[] constant(0)\n  ROOT %y = "

# Pairs of a valid instruction and the same with one error, for every rule.
PAIRS = [
    ("f32[5,3] transpose(%x), dimensions={1,0}", "f32[3,5] transpose(%x), dimensions={1,0}"),
    ("f32[15] reshape(%x)", "f32[14] reshape(%x)"),
    ("f32[2,5] slice(%x), slice={[0:2], [0:5]}", "f32[2,5] slice(%x), slice={[0:4], [0:5]}"),
    ("f32[4,5] pad(%x, %z), padding=0_1x0_0", "f32[4,6] pad(%x, %z), padding=0_1x0_0"),
    ("f32[4,5] pad(%x, %z), padding=0_1x0_0", "f32[4,5] pad(%x, %x), padding=0_1x0_0"),
    ("f32[5,3,5] broadcast(%x), dimensions={1,2}", "f32[5,3,5] broadcast(%x), dimensions={0,2}"),
    ("f32[6,5] concatenate(%x, %x), dimensions={0}", "f32[6,5] concatenate(%x, %x), dimensions={1}"),
    ("f32[5] reduce(%x, %z), dimensions={0}, to_apply=%add", "f32[3] reduce(%x, %z), dimensions={0}, to_apply=%add"),
    ("f32[3] reduce(%x, %z), dimensions={1}, to_apply=%add", "f32[3] reduce(%x, %z), dimensions={1}, to_apply=%id"),
    ("f32[3,5] add(%x, %x)", "f32[3,5] add(%x, %z)"),
    ("f32[3,5] clamp(%z, %x, %z)", "f32[3,5] clamp(%z, %z, %x)"),
    ("f32[3,5] reverse(%x), dimensions={0}", "f32[5,3] reverse(%x), dimensions={0}"),
    ("(f32[3,5], f32[]) tuple(%x, %z)", "(f32[3,5]) tuple(%x, %z)"),
    ("f32[3,5] negate(%x)", "f32[3,5] negat(%x)"),
    ("f32[3,5] sort(%x), dimensions={1}, to_apply=%less", "f32[3,5] sort(%x), dimensions={2}, to_apply=%less"),
    ("f32[4] iota(), iota_dimension=0", "f32[4] iota(), iota_dimension=1"),
    (
        "f32[5,5] dot(%x, %x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "f32[5,5] dot(%x, %x), lhs_contracting_dims={0}, rhs_contracting_dims={2}",
    ),
    (
        "c64[3,3] fft(%x), fft_type=RFFT, fft_length={5}",
        "c64[3,3] fft(%x), fft_type=RFFT, fft_length={4}",
    ),
    ("f32[3,5] map(%x, %x), dimensions={0,1}, to_apply=%add", "f32[3,5] map(%x, %x), dimensions={0,1}"),
    ("f32[3,5] call(%x), to_apply=%id", "f32[3,5] call(%x)"),
    ("f32[3,5] conditional(%n, %x), branch_computations={%id}", "f32[3,5] conditional(%n)"),
    # More digits than int() takes.
    ("f32[2,5] slice(%x), slice={[0:2], [0:5]}", f"f32[2,5] slice(%x), slice={{[0:{'9' * 5000}], [0:5]}}"),
    ("f32[4,5] pad(%x, %z), padding=0_1x0_0", f"f32[4,5] pad(%x, %z), padding=0_1x0_{'9' * 5000}"),
    ("f32[5,3] transpose(%x), dimensions={1,0}", f"f32[5,3] transpose(%x), dimensions={{{'9' * 5000},0}}"),
    ("s32[3,5] bitcast-convert(%x)", "s32[5,3] bitcast-convert(%x)"),
    ("f32[15]{0} bitcast(%x)", "f32[3,5]{1,0:T(2,2)} bitcast(%x)"),
    ("f32[3,5] call(%x), to_apply=%id", "f32[3,5] call(%z), to_apply=%id"),
    ("f32[3,5] call(%x), to_apply=%id", "f32[3,5] call(%x, %z), to_apply=%id"),
    ("f32[3,5] fusion(%x), kind=kLoop, calls=%id", "f32[3] fusion(%x), kind=kLoop, calls=%id"),
    (
        "f32[3,5] conditional(%n, %x, %x), branch_computations={%id, %id}",
        "f32[3,5] conditional(%n, %x, %z), branch_computations={%id, %id}",
    ),
]


def problems(instruction: str, head: str = HEAD) -> list[str]:
    text = head + ENTRY + instruction + "\n}\n"
    return [problem.message for problem in find_problems(parse_bytes(text.encode(), "m.hlo"))]


@pytest.mark.parametrize(("right", "wrong"), PAIRS)
def test_one_mistake_is_found(right: str, wrong: str) -> None:
    assert problems(right) == []
    assert len(problems(wrong)) == 1


def test_an_unknown_opcode_gets_the_nearest_known_one() -> None:
    text = HEAD + ENTRY + "f32[3,5] negat(%x)\n}\n"
    (problem,) = find_problems(parse_bytes(text.encode(), "m.hlo"))
    assert (problem.message, problem.hint) == ("unknown opcode negat", "did you mean negate?")
    assert problem.location is not None
    assert text[problem.location.span.start : problem.location.span.end] == "negat"


@pytest.mark.parametrize(
    "instruction",
    [
        "bf16[4,5] pad(%x, %z), padding=0_1x0_0",
        "bf16[3,5] copy(%x)",
        "bf16[3,5] add(%x, %x)",
        "f32[<=3,5] slice(%x), slice={[0:3], [0:5]}",
    ],
)
def test_what_the_tpu_compiler_writes_is_right(instruction: str) -> None:
    scheduled = HEAD.replace("HloModule m", "HloModule m, is_scheduled=true")
    assert problems(instruction, scheduled) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # A lone number is the first element, as XLA reads it; two are no array.
        ("f32[3,5] constant(7)", "f32[3,5] constant({7})"),
        ("s8[3] constant(7)", "s8[3] constant(700)"),
        ("(f32[3,5], f32[]) copy(%t)", "(f32[3,4], f32[]) copy(%t)"),
        ("f32[3,5] copy(%d)", "f32[3,5] negate(%x), output_to_operand_aliasing={{}: (0, {})}"),
    ],
)
def test_what_xla_takes_is_taken(right: str, wrong: str) -> None:
    head = "%t = (f32[3,5], f32[]) tuple(%x, %z)\n  "
    start = "%s = ((f32[3,5]), f32[3,5], u32[]) fusion-start(%x), kind=kLoop, calls=%id"
    head += f"{start}, output_to_operand_aliasing={{{{}}: (0, {{}})}}\n  %d = f32[3,5] fusion-done(%s)\n  "
    with_tuple = ENTRY.replace("ROOT %y = ", f"{head}ROOT %y = ")
    for instruction, is_right in ((right, True), (wrong, False)):
        text = HEAD + with_tuple + instruction + "\n}\n"
        assert (not list(find_problems(parse_bytes(text.encode(), "m.hlo")))) is is_right


@pytest.mark.parametrize(("shape", "count"), [("f32[5,3]", 0), ("s32[15]", 0), ("f32[3,4]", 1)])
def test_one_buffer_may_be_two_arrays_of_one_size(shape: str, count: int) -> None:
    header = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n\nENTRY e {\n  p = f32[3,5] parameter(0)\n"
    text = f"{header}  z = {shape.split('[')[0]}[] constant(0)\n  ROOT b = {shape} broadcast(z), dimensions={{}}\n}}\n"
    module = parse_bytes(text.encode(), "m.hlo")
    assert list(find_problems(module)) == []
    assert len(list(find_problems(module, layout_sensitive=True))) == count


def test_nobody_else_mixes_element_types() -> None:
    assert problems("bf16[3,5] add(%x, %x)") == ["y: operand 0 of add is f32, but the result bf16"]


def test_an_unknown_attribute_is_a_warning_in_a_dump() -> None:
    text = HEAD + ENTRY + "f32[3,5] negate(%x), frobnicate=1\n}\n"
    (problem,) = find_problems(parse_bytes(text.encode(), "m.hlo"))
    assert (problem.severity, problem.message) == ("error", "y: negate has no attribute frobnicate")
    scheduled = text.replace("HloModule m", "HloModule m, is_scheduled=true")
    (problem,) = find_problems(parse_bytes(scheduled.encode(), "m.hlo"))
    assert problem.severity == "warning"


@pytest.mark.parametrize("name", nonsense())
def test_what_means_nothing_is_refused(name: str) -> None:
    try:
        found = list(find_problems(parse_bytes(nonsense()[name].encode(), "m.hlo")))
    except DiagnosticError:
        return
    assert bool(found) == (name not in ACCEPTED)


def test_layouts_of_a_boundary_agree_where_both_are_tiled() -> None:
    tiled = HEAD.replace("f32[3,5] parameter", "f32[3,5]{1,0:T(2,4)} parameter") + ENTRY
    call = "f32[3,5] call(%x), to_apply=%id\n}\n"
    for layout, count in (("{1,0:T(2,4)S(1)}", 0), ("{1,0}", 0), ("{1,0:T(4,4)}", 1)):
        text = (tiled + call).replace("%x = f32[3,5] ", f"%x = f32[3,5]{layout} ")
        assert len(list(find_problems(parse_bytes(text.encode(), "m.hlo")))) == count


@pytest.mark.parametrize(("right", "wrong"), PAIRS)
def test_what_is_right_does_not_vouch_for_what_is_wrong(right: str, wrong: str) -> None:
    alone = problems(wrong)
    after = ENTRY.replace("ROOT %y = ", f"%ok = {right}\n  ROOT %y = ")
    module = parse_bytes((HEAD + after + wrong + "\n}\n").encode(), "m.hlo")
    assert [problem.message for problem in find_problems(module)] == alone
