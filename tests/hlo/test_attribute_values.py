"""The forms of attributes, of the header and of the tables before it: what XLA's parser rejects is rejected here."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.hlo.verification.attributes import value_problem
from dialect_utils.hlo.verify import find_problems
from dialect_utils.text import DiagnosticError

_HEADER = "HloModule m"
_TABLES = """

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=1 end_line=2 column=3 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
"""
_ENTRY = """
ENTRY e {
  p = (f32[4], f32[4]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0, metadata={op_name="a/b" source_line=3}
  b = f32[4,4] broadcast(x), dimensions={0}, backend_config={"a":[{"b":{"c":"}"}}]}
  r = f32[4,4] reverse(b), dimensions={0}, frontend_attributes={a="x",b={c = 1}}
  ROOT c = f32[4,4] custom-call(r), custom_call_target="f"
}
"""
_TEXT = _HEADER + _TABLES + _ENTRY


def first_error(text: str) -> str:
    try:
        found = [each for each in find_problems(parse_module(text)) if each.severity == "error"]
    except DiagnosticError as error:
        found = list(error.diagnostics)
    return found[0].message if found else ""


# A part of the right text, its replacement, and a part of the message.
WRONG = [
    ("index=0", "index={0}", "index expects an integer, found {0}"),
    ("dimensions={0}, back", "dimensions=true, back", "dimensions expects integers such as {0,1}, found true"),
    ("dimensions={0}, back", "dimensions={0} {0}, back", "dimensions expects integers such as {0,1}, found {0} {0}"),
    ('metadata={op_name="a/b" source_line=3}', "metadata=x", "metadata expects fields"),
    ('metadata={op_name="a/b" source_line=3}', "metadata={0,1}", "metadata expects fields"),
    ('{op_name="a/b" source_line=3}', '{op_name="a/b" =3}', "metadata expects fields"),
    ('frontend_attributes={a="x",b={c = 1}}', "frontend_attributes=x", "frontend_attributes expects fields"),
    ('target="f"', "target=f", "custom_call_target expects a string, found f"),
    ('backend_config={"a"', 'backend_config=-1, x={"a"', "backend_config expects a string or a JSON object, found -1"),
    ('"}"}}]}', '"}"}}]} {"a":1}', "backend_config has more than one value"),
    (_HEADER, "HloModule m, is_scheduled=1", "is_scheduled expects true or false, found 1"),
    (_HEADER, "HloModule m, num_partitions=x", "num_partitions expects a count such as 2, found x"),
    (_HEADER, "HloModule m, allow_spmd_sharding_propagation_to_output={true,x}", "expects true, false or a list"),
    (_HEADER, "HloModule m, frontend_attributes=1", "frontend_attributes expects fields"),
    (_HEADER, "HloModule ENTRY", "ENTRY is a word of HLO, not a name"),
    ("FileNames", "StackFrames", "StackFrames is a word of HLO, not a name"),
    ('FunctionNames\n1 "f"\n', "", "expected the table FunctionNames, found 'FileLocations'"),
    ('1 "a.py"', "1 {line=1}", "entry 1 expects a string, found '{'"),
    ('1 "a.py"', '1e2 "a.py"', "expected the number of an entry, found '1e2'"),
    (" column=3", "", "entry 1 has no column"),
    (" column=3", " column=3 column=3", "entry 1 expects end_column, found 'column'"),
    (" column=3", " column=4294967296", "column expects an integer of 32 bits, found '4294967296'"),
    (" column=3", " offset=3", "entry 1 expects column, end_column, found 'offset'"),
    ("f32[4,4] reverse", "f32[4611686018427387904,4] reverse", "are too many for 64 bits"),
    # Characters that Python reads as blanks, and XLA's lexer does not.
    ("index=0", "index=0\u00a0", "unexpected character U+00A0"),
    ("f32[4] get", "f32[4\v] get", "unexpected character U+000B"),
    ("  r = ", "\f  r = ", "unexpected character U+000C"),
    ("index=0", "index=0 * 1", "index expects an integer"),
    # Strings with escapes that absl::CUnescape rejects.
    ('target="f"', 'target="\\l"', 'custom_call_target expects a string, found "\\l"'),
    ('op_name="a/b"', 'op_name="\\400"', "metadata expects fields"),
    ('{a="x"', '{a="\\u00"', "frontend_attributes expects fields"),
    ('backend_config={"a":[{"b":{"c":"}"}}]}', 'backend_config="\\xfff"', "backend_config expects a string or a JSON"),
    ("f32[4,4] reverse", "f32[4,4]{1,0:#(u32)} reverse", "has the layout of a sparse array"),
    ("f32[4,4] reverse", "f32[4,4]{1,0:*(u32)} reverse", "has the layout of a sparse array"),
    ("index=0", "index=0, sharding={{replicated},{replicated}}", "the sharding has 2 entries for f32[4]"),
    ("index=0", "index=0, sharding={{replicated},}", "is not a valid sharding"),
    ("index=0", "index=0, sharding={{}}", "is not a valid sharding"),
]


def test_the_right_text_is_accepted() -> None:
    assert first_error(_TEXT) == ""
    assert first_error(_TEXT.replace("line=1 end_line=2", "end_line=2, line=-1")) == ""
    assert first_error(_TEXT.replace("index=0", "index=0, sharding={replicated}/* \u00a0\v */")) == ""
    assert first_error(_TEXT.replace("a/b", r"\u00e4\X41\'\?\101\x000041" + "\u00a0\v")) == ""
    # A JSON object is not unescaped.
    assert first_error(_TEXT.replace('"c":"}"', r'"c":"\l"')) == ""


@pytest.mark.parametrize(("old", "new", "said"), WRONG)
def test_each_wrong_form_is_named(old: str, new: str, said: str) -> None:
    assert old in _TEXT
    assert said in first_error(_TEXT.replace(old, new, 1))


def test_a_wrong_form_after_a_sound_twin_is_found() -> None:
    line = '  ROOT n = f32[4] negate(p), metadata={op_name="x"}\n'
    text = f"HloModule m\nENTRY e {{\n  p = f32[4] parameter(0)\n{line.replace('ROOT n', 'm')}{line}}}\n"
    assert first_error(text) == ""
    assert "metadata expects fields" in first_error(
        text.replace(
            'ROOT n = f32[4] negate(p), metadata={op_name="x"}', 'ROOT n = f32[4] negate(p), metadata={op_name="x" "y"}'
        )
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("replica_groups", "[2,2]<=[2,2]T(1,0)"),
        ("replica_groups", "{{0,1},{}}"),
        ("output_to_operand_aliasing", "{{}: (0, {}), {1}: (1, {0}, must-alias)}"),
        ("parameter_replication", "{true, false}"),
        ("allow_spmd_sharding_propagation_to_output", "true"),
        ("dim_labels", "b0f_0io->b0f"),
        ("window", "{size=1x2 /* of two */ pad=0_0x1_1}"),
        ("origin", '{(({"a"},{"b"}),{"c"})}'),
        ("dimensions", "{0, /* and */ 1}"),
        ("statistics", "{visualizing_index=1,a=1.5}"),
    ],
)
def test_forms_of_every_kind_are_accepted(name: str, text: str) -> None:
    assert value_problem(name, text) is None


# Each value is rejected by XLA's parser on a custom-call, which reads them although they mean nothing there.
REJECTED = [
    ("dim_labels", '"x"', 'labels such as b01f_01io->b01f, found "x"'),
    ("dim_labels", "bf01_oi01", "labels such as b01f_01io->b01f"),
    ("dim_labels", "bf01_oi01->bf3", "name a dimension beyond 2 in bf3"),
    ("dim_labels", "bf2_oi0->bf0", "name a dimension beyond 1 in bf2"),
    ("dim_labels", "bb01_oi01->bf01", "name a dimension twice in bb01"),
    ("dim_labels", "bf01_oi->bf01", "have 2, 0, 2 spatial dimensions, which differ"),
    ("window", "3", "window expects fields such as"),
    ("window", "{size=3x}", "window expects fields such as"),
    ("window", "{size=2 pad=1}", "window expects fields such as"),
    ("window", "{size=2, stride=2}", "window expects fields such as"),
    ("window", "{foo=1}", "has the unknown field foo"),
    ("window", "{size=3 size=3}", "has the field size twice"),
    ("window", "{size=1x1 stride=2}", "has 1 entries in stride"),
    ("window", "{stride=2}", "has 1 entries in stride"),
    ("operand_precision", "highest", "operand_precision expects precisions"),
    ("operand_precision", "{foo}", "operand_precision expects precisions"),
    ("padding_type", "x", "padding_type expects a type"),
    ("schedule", "x", "schedule expects a schedule"),
    ("api_version", "API_VERSION_UNSPECIFIED", "api_version expects a version"),
    ("literal", "x", "literal expects a literal"),
    ("statistics", "x", "statistics expects fields"),
    ("statistics", "{a=1 b=2}", "statistics expects fields"),
    ("origin", "{x}", "origin expects a tree of arrays"),
    ("control-predecessors", "{}", "control-predecessors expects names of instructions"),
    ("control-predecessors", "x", "control-predecessors expects names of instructions"),
    ("metadata", "{op_name=x}", "metadata expects fields"),
    ("metadata", '{source_line="x"}', "metadata expects fields"),
    ("metadata", "{stack_frame_id=3.5}", "metadata expects fields"),
    ("metadata", "{profile_type={x}}", "metadata expects fields"),
    ("frontend_attributes", "{a=1}", "frontend_attributes expects fields"),
    ("frontend_attributes", '{a="1" b="2"}', "frontend_attributes expects fields"),
    ("result_accuracy", "{foo=default}", "result_accuracy expects a mode or a tolerance"),
    ("result_accuracy", "{tolerance={rtolrtol=0.5, atol=1.0, ulps=2}}", "result_accuracy expects a mode"),
    ("result_accuracy", "{tolerance={rtol=x}}", "result_accuracy expects a mode or a tolerance"),
    ("result_accuracy", "{tolerance={rtol=0.5 ulps=2}}", "result_accuracy expects a mode or a tolerance"),
]


@pytest.mark.parametrize(("name", "text", "said"), REJECTED)
def test_inner_names_and_values_are_checked_on_any_instruction(name: str, text: str, said: str) -> None:
    assert said in (value_problem(name, text) or "")
    if name != "result_accuracy":
        line = f'custom-call(r), custom_call_target="f", {name}={text}'
        assert first_error(_TEXT.replace('custom-call(r), custom_call_target="f"', line)) != ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dim_labels", "bf?_oi?->bf?"),
        ("dim_labels", "01bf_01oi->01bf"),
        ("window", "{}"),
        ("window", "{size=1x1 stride=1x1 pad=0_0x-1_2 lhs_dilate=1x2 rhs_dilate=1x1 rhs_reversal=0x1}"),
        ("operand_precision", "{highest, packed_nibble}"),
        ("api_version", "API_VERSION_TYPED_FFI"),
        ("origin", '{{"x" {0}}}'),
        ("control-predecessors", "{%a, b.1}"),
        ("metadata", '{op_name="a", profile_type={1} stack_frame_id=3 of_a_newer_compiler={a=1}}'),
        ("frontend_attributes", '{a="1",b={"c":{}}}'),
        ("result_accuracy", "{mode=highest}"),
        ("result_accuracy", "{tolerance={rtol=1e-3, atol=inf, ulps=2}}"),
    ],
)
def test_inner_names_and_values_of_the_right_form_are_accepted(name: str, text: str) -> None:
    assert value_problem(name, text) is None


def test_windows_and_long_lists_are_read_in_linear_time() -> None:
    assert value_problem("window", "{" + "size=11" * 50_000 + "!") is not None
    assert value_problem("frontend_attributes", "{" + 'a="x",' * 50_000 + "!") is not None
    assert value_problem("result_accuracy", "{tolerance={" + "rtol=1," * 50_000 + "!") is not None
