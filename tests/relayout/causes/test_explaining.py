"""Causes of small compilations: the arrays that are explained, their sides, their lines and the advice."""

from __future__ import annotations

import pytest

from dialect_utils.io.inputs import Input
from dialect_utils.text import DiagnosticError
from relayout.causes.run import explain_modules
from relayout.reporting.causes import Why

PLAIN = """HloModule f

ENTRY e {
  x = f32[4,8]{1,0} parameter(0)
  n = f32[4,8]{1,0} negate(x), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3}
  ROOT r = f32[4,8]{0,1} copy(n)
}
"""
# The copy of the program is `t` here, and a pass adds `c`.
COPIED = PLAIN.replace(
    "ROOT r = f32[4,8]{0,1} copy(n)",
    """c = f32[4,8]{0,1} copy(x)
  s = f32[4,8]{0,1} sine(c)
  t = f32[4,8]{0,1} copy(n)
  ROOT r = (f32[4,8]{0,1}, f32[4,8]{0,1}) tuple(s, t)""",
)
STAGES = ("before_optimizations", "0001.layouts.after_assign.before_pipeline-end", "after_optimizations")


def explained(*texts: str, value: str | None = None, top: int = 10) -> Why:
    names = [f"module_0000.jit_f.{stage}.txt" for stage in STAGES[: len(texts)]]
    modules = [Input(name, name, content=text.encode()) for name, text in zip(names, texts, strict=True)]
    return explain_modules("jit_f", modules, value, top)


def test_each_move_has_its_pass_its_sides_and_its_line() -> None:
    found = {each.name: each for each in explained(PLAIN, COPIED, COPIED).causes}
    assert {name: str(each.introduced_by) for name, each in found.items()} == {
        "c": "assign of layouts",
        "t": "the compiler's input",
    }
    assert found["c"].made_by is not None
    assert (found["c"].made_by.text, [each.text for each in found["c"].read_by]) == ("argument 0 (x)", ["s (sine)"])
    assert (found["t"].source_file, found["t"].source_line, found["t"].source_of) == ("f.py", 3, "n")
    assert found["t"].op_name == "jit(f)/neg"
    assert found["c"].bytes_moved == found["t"].bytes_moved == 2 * 4 * 8 * 4
    assert all(each.changes_layout for each in found.values())


def test_a_line_of_another_instruction_is_better_than_a_name_without_a_line() -> None:
    named = COPIED.replace("copy(n)", 'copy(n), metadata={op_name="jit(f)/t"}')
    [found] = [each for each in explained(PLAIN, named).causes if each.name == "t"]
    assert (found.op_name, found.source_file, found.source_line, found.source_of) == ("jit(f)/neg", "f.py", 3, "n")
    plain, unplaced = (text.replace(' source_file="f.py" source_line=3', "") for text in (PLAIN, named))
    [found] = [each for each in explained(plain, unplaced).causes if each.name == "t"]
    assert (found.op_name, found.source_file, found.source_of) == ("jit(f)/t", "", "")


def test_the_most_expensive_arrays_are_shown_and_all_are_counted() -> None:
    found = explained(PLAIN, COPIED, top=1)
    assert (found.arrays, len(found.causes)) == (2, 1)
    assert found.final == "module_0000.jit_f.0001.layouts.after_assign.before_pipeline-end.txt"


@pytest.mark.parametrize(("value", "names"), [("t", ["t"]), ("%c", ["c"]), ("n", ["n"]), ("x", ["x"])])
def test_an_array_may_be_named(value: str, names: list[str]) -> None:
    found = explained(PLAIN, COPIED, value=value)
    assert [each.name for each in found.causes] == names
    assert [each.kind for each in found.causes] == ["relayout" if value in ("t", "%c") else "instruction"]


def test_an_unknown_name_has_the_nearest_known_one() -> None:
    long = COPIED.replace("c = ", "copied = ").replace("sine(c)", "sine(copied)")
    with pytest.raises(DiagnosticError) as caught:
        explained(PLAIN, long, value="copiedd")
    [said] = caught.value.diagnostics
    assert said.message == "no instruction of the final program is called copiedd"
    assert said.hint == "did you mean copied?"
    found = explained(PLAIN, long, value="opie")
    assert [each.name for each in found.causes] == ["copied"]


def test_files_that_cannot_be_read_are_named_and_passed_over() -> None:
    found = explained(PLAIN, "nothing", COPIED)
    assert found.unread == ("module_0000.jit_f.0001.layouts.after_assign.before_pipeline-end.txt",)
    assert [each.introduced_by.is_or_later for each in found.causes if each.name == "c"] == [True]
    with pytest.raises(DiagnosticError, match="none of 2 modules can be read"):
        explained("nothing", "nothing")
