from __future__ import annotations

import pytest

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.layout import TupleShape, parse_shape
from dialect_utils.text import DiagnosticError


def read(text: str) -> HloModule:
    module = parse_module(text)
    assert module.text() == text
    return module


def body(text: str) -> str:
    return f"HloModule m\n\nENTRY e {{\n{text}\n}}\n"


def test_names_without_percent_and_shapes_written_out() -> None:
    entry = read(body("  p = f32[2] parameter(0)\n  ROOT s = f32[2] add(f32[2] p, f32[2]{0} %p)")).entry
    assert entry.root.operands == (entry.parameters[0],) * 2
    assert entry.parameters[0].users == (entry.root,)


def test_one_line_computation_without_layout_or_signature() -> None:
    module = read("HloModule m ENTRY e { p = f32[3]{0} parameter(0) ROOT q = f32[3]{0} negate(p) }")
    assert [item.name for item in module.entry.instructions] == ["p", "q"]
    assert module.entry_computation_layout is None
    assert module.entry_layout == ((parse_shape("f32[3]{0}"),), (parse_shape("f32[3]{0}"),))


def test_constant_over_several_lines_with_comments() -> None:
    entry = read(body("  ROOT c = f32[2,2] constant({\n{1, 1}, /* row 1 */\n {1, // one\n 1}})")).entry
    assert entry.root.splat_bits == 0x3F800000
    assert parse_module(body("  c = f32[2] constant({1, 2})")).entry.root.splat_bits is None
    assert parse_module(body("  c = f32[9] constant({...})")).entry.root.splat_bits is None


def test_root_anywhere_or_nowhere() -> None:
    first = read(body("  ROOT p = f32[] parameter(0)\n  q = f32[] negate(p)")).entry
    assert first.root.name == "p"
    assert read(body("  p = f32[] parameter(0)\n  q = f32[] negate(p)")).entry.root.name == "q"


def test_root_as_a_name() -> None:
    assert read(body("  %ROOT = f32[] parameter(0)")).entry.root.name == "ROOT"


def test_entry_in_front_of_what_it_calls() -> None:
    module = read("ENTRY e { p = f32[] parameter(0) ROOT q = f32[] call(p), to_apply=f }\nf { x = f32[] parameter(0) }")
    assert module.entry.name == "e"
    assert [function.name for function in module.functions] == ["f", "e"]
    assert module.functions[0].callers == (module.entry.root,)


def test_no_entry_means_the_last_computation() -> None:
    module = read("HloModule m\nf { p = f32[] parameter(0) }\ng { p = f32[] parameter(0) }")
    assert module.entry.name == "g"


def test_bare_lines_have_no_entry() -> None:
    module = read('  %b = f32[2] add(f32[2] %a, f32[2] %a), metadata={op_name="x"}\n  ROOT %c = f32[2] negate(%b)\n')
    assert [item.name for item in module.computations[0].instructions] == ["b", "c"]
    with pytest.raises(DiagnosticError, match="no entry computation"):
        _ = module.entry


def test_nested_tuples_and_index_marks() -> None:
    shape = "((f32[2]{0}, (s32[], pred[])), token[], f32[1]{0}, f32[1]{0}, f32[1]{0}, /*index=5*/f32[1]{0})"
    entry = read(body(f"  ROOT p = {shape} parameter(0)")).entry
    assert isinstance(entry.root.shape, TupleShape)
    assert str(entry.root.shape) == shape


def test_attributes_over_lines_and_with_strings() -> None:
    text = """  p = f32[2] parameter(0)
  q = f32[2] negate(p),
    metadata={op_name="a\\"}, \\\\" source_file='x}'}
    , backend_config={"a":{"b":["}","{"]}}
  ROOT r = f32[2] custom-call(q), custom_call_target="a, b=c", dim_labels=b01f_01io->b01f, x=[2,2]<=[4]T(1,0)"""
    entry = read(body(text)).entry
    q, r = entry.find("q"), entry.root
    assert q is not None
    assert list(q.attributes) == ["metadata", "backend_config"]
    assert q.attribute("backend_config") == '{"a":{"b":["}","{"]}}'
    assert r.callee == "a, b=c"
    assert list(r.attributes.values())[1:] == ["b01f_01io->b01f", "[2,2]<=[4]T(1,0)"]


def test_a_line_that_only_looks_whole() -> None:
    text = body(
        '  p = f32[] parameter(0)\n  q = f32[] negate(p), metadata={op_name="a"} /*\n  r = f32[] negate(p)\n  */'
    )
    assert [item.name for item in read(text).entry.instructions] == ["p", "q"]
    text = body('  p = f32[] parameter(0), metadata={op_name="\n  r = f32[] parameter(1)\n"}')
    assert [item.name for item in read(text).entry.instructions] == ["p"]


def test_crlf_and_no_final_newline() -> None:
    text = (
        body('  p = f32[] parameter(0)\n  q = f32[] negate(p), metadata={op_name="a"}').replace("\n", "\r\n").rstrip()
    )
    module = read(text)
    q = module.entry.root
    module.after(q).convert(q, module.entry.parameters[0].shape.element_type, name="n", like=q)  # type: ignore[union-attr]
    assert module.text().count("\r\n") == text.count("\r\n") + 1
    assert module.text().count("\n") == module.text().count("\r\n")


TABLES = """

FileNames
1 "a.py"
2 'b'

FunctionNames
1 "f }{"

FileLocations
1 {file_name_id=1 function_name_id=1 line=1 end_line=2 column=3 end_column=4}
2 {function_name_id=1, file_name_id=1 end_line=2 line=-1 column=3 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

"""


def test_tables_stay_text() -> None:
    tables = TABLES
    module = read(f"HloModule m{tables}ENTRY e {{\n  p = f32[] parameter(0)\n}}\n")
    module.entry.parameters[0].rename("q")
    assert tables in module.text()


def test_shapes_that_are_not_written() -> None:
    text = body(
        "  p = f32[2]{0} parameter(0)\n  a = add(p, p)\n  t = tuple(a, p)\n  ROOT g = get-tuple-element(t), index=1"
    )
    assert [str(item.shape) for item in read(text).entry.instructions[1:]] == [
        "f32[2]{0}",
        "(f32[2]{0}, f32[2]{0})",
        "f32[2]{0}",
    ]


INLINE = """HloModule m

ENTRY e {
  p = f32[3] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(p, z), dimensions={0}, to_apply=
  {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] add(a, b)
  }
  i = s32[] constant(1)
  ROOT o = f32[] conditional(i, r, r), branch_computations={
  {
    ROOT p = f32[] parameter(0)
  },
  {
    p = f32[] parameter(0)
    ROOT c = f32[] call(p), to_apply={q = f32[] parameter(0)}
  }
}
}
"""


def test_computations_written_in_place() -> None:
    module = read(INLINE)
    names = ["r.to_apply", "c.to_apply", "o.branch_computations", "o.branch_computations.1", "e"]
    assert sorted(c.name for c in module.functions) == sorted(names)
    conditional = module.entry.root
    assert [len(callee.instructions) for callee in conditional.called] == [1, 2]
    reduce = module.entry.find("r")
    assert reduce is not None
    assert reduce.called[0].is_embedded
    assert not conditional.called[0].is_embedded


def test_an_edit_gives_a_computation_its_own_place() -> None:
    module = read(INLINE)
    call = module.entry.root.called[1].root
    call.called[0].root.rename("renamed")
    again = parse_module(module.text())
    inner = again.entry.root.called[1].root.called[0]
    assert inner.root.name == "renamed"
    # The reduction was not touched and still holds its computation.
    assert "to_apply=\n  {\n    a = f32[] parameter(0)" in module.text()
    assert module.clone().text() == module.text()


def test_deep_nesting_is_an_error_and_no_overflow() -> None:
    brackets = "{" * 100_000 + "}" * 100_000
    assert read(body(f"  p = f32[] parameter(0), sharding={brackets}")).entry.root.attribute("sharding") == brackets
    with pytest.raises(DiagnosticError, match="never closed"):
        parse_module(body("  p = f32[] parameter(0), sharding=" + "{" * 100_000))
    level = "{p = f32[] parameter(0) ROOT q = f32[] call(p), to_apply="
    with pytest.raises(DiagnosticError, match="deeper than"):
        parse_module(body(f"  p = f32[] parameter(0)\n q = f32[] call(p), to_apply={level * 200}f{'}' * 200}"))
    with pytest.raises(DiagnosticError, match="nest deeper"):
        parse_module(body("  p = " + "(" * 5000 + ")" * 5000 + " parameter(0)"))


def test_a_long_chain_of_calls_is_no_recursion() -> None:
    parts = ["g0 { x = f32[] parameter(0) }"]
    parts += [f"g{i} {{ x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=g{i - 1} }}" for i in range(1, 3000)]
    module = read("\n".join(reversed(parts)))
    assert module.functions[0].name == "g0"


def test_damaging_input_takes_linear_time() -> None:
    for piece in ("(", "f32[2]{0} (", "/*index=5*/", '"', "a = ", "\\", "x.", "{%a"):
        with pytest.raises(DiagnosticError):
            parse_module(body("  p = " + piece * 20_000))
