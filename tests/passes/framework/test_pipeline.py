from __future__ import annotations

import io
import traceback
from dataclasses import FrozenInstanceError
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.text import DiagnosticError, Source, Span, render
from passes.framework import base
from passes.framework.base import Pass, Report, module_pass
from passes.framework.options import parse_options
from passes.framework.pipeline import (
    PassError,
    PassRun,
    Pipeline,
    dump_to,
    format_timing,
    named_pipelines,
    print_after,
    print_before,
    print_changed,
    read_pipelines,
)
from passes.framework.spec import Text, parse_option_texts
from tests.passes.toy import replace, stablehlo_only, toy

pytestmark = pytest.mark.usefixtures("toy_passes")


def test_run_edits_a_clone_and_says_whether_it_changed() -> None:
    module = toy("old words")
    result = replace.run(module)
    assert (result.module.text(), result.modified, result.notes) == ("new words", True, ())
    assert module.text() == "old words"
    again = replace.run(result.module)
    assert again.module is result.module
    assert not again.modified
    assert [note.message for note in again.notes] == ["no old"]


def test_a_pass_is_a_value() -> None:
    assert replace.with_options(old="a") == replace.with_options(old="a") != replace
    assert len({replace, replace.with_options(old="old"), replace.with_options(old="a")}) == 2
    with pytest.raises(FrozenInstanceError):
        replace.values = ()  # type: ignore[misc]  # what must fail


def test_options_given_in_python_are_checked() -> None:
    assert replace.with_options(file="a/b", sizes=[3]) == replace.with_options(
        file=Path("a/b"), sizes=(3,)
    )  # a text and a list do too
    with pytest.raises(TypeError, match="pass replace has no option olf; it has old, new"):
        replace.with_options(olf="a")
    with pytest.raises(DiagnosticError, match=r"option mode is all\|first, not frst\n.*did you mean first"):
        replace.with_options(mode="frst")


def test_a_pass_edits_in_place_where_it_is_called() -> None:
    module, report = toy("old words"), Report()
    replace(module, report, new="x")
    replace.with_options(old="words")(module, report, new="y")
    replace(module, report)
    assert module.text() == "x y"
    assert [note.message for note in report.diagnostics] == ["no old"]


def test_invalid_declarations_are_rejected() -> None:
    def without_default(module: Any, report: Report, *, old: str) -> None: ...

    def any_options(module: Any, **old: str) -> None: ...

    def without_module(*, old: str = "") -> None: ...

    for function, message in [
        (without_default, "option old must have a default"),
        (any_options, "option old must have a default"),
        (without_module, "the first parameter of a pass is the module"),
    ]:
        with pytest.raises(TypeError, match=message):
            module_pass(function)  # type: ignore[call-overload]  # what must fail


def test_annotations_the_report_and_keyword_only_options_may_be_left_out() -> None:
    @module_pass
    def shorten(module, count=1, share=0.5, names=("old",), file=None):  # type: ignore[no-untyped-def]  # is tested
        module.words = module.words[count:]

    assert shorten.dialects == ("hlo", "stablehlo")
    kinds = {option.name: option.kind for option in shorten.options}
    assert kinds == {"count": int, "share": float, "names": tuple[str, ...], "file": str}
    assert shorten.run(toy("old words")).module.text() == "ld words"
    step = Pass.with_options(shorten, count=4, share=1e-3)
    assert (str(step), repr(step)) == ("shorten{count=4 share=0.001}", "shorten(count=4, share=0.001)")
    assert Pipeline((step, shorten)).run(toy("old words")).module.text() == "ords"
    with pytest.raises(DiagnosticError, match="option count is an integer, not '3'"):
        Pass.with_options(shorten, count="3")


def test_an_option_of_a_number_is_read_from_text() -> None:
    @module_pass
    def scale(module: Any, report: Report, *, by: float = 2.0) -> None: ...

    texts = parse_option_texts(Text(source := Source("<pipeline>", "by=-1e-3"), Span(0, len(source.text))))
    assert parse_options(scale.options, texts, "pass scale") == {"by": -0.001}
    wrong = parse_option_texts(Text(source := Source("<pipeline>", "by=nan"), Span(0, len(source.text))))
    with pytest.raises(DiagnosticError, match="option by is a number, not nan"):
        parse_options(scale.options, wrong, "pass scale")


def test_a_pass_called_with_options_alone_is_a_pass_with_these_options() -> None:
    step = replace(old="a", new="b")
    assert step == replace.with_options(old="a", new="b")
    assert step(new="c") == replace(old="a", new="c")
    assert replace() == replace
    with pytest.raises(TypeError, match="pass replace has no option olf"):
        replace(olf="a")
    with pytest.raises(TypeError, match=r"takes a module, a report, and options by name, not a .*ToyModule, a str"):
        replace(toy("old"), "new")


def test_an_annotation_that_only_type_checkers_know_is_named() -> None:
    def late(module: Absent, report: Report) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # is tested

    with pytest.raises(TypeError, match="late: the annotation Absent is unknown here; import it outside of"):
        module_pass(late).run(toy("old"))


def test_a_pass_that_returns_another_module_is_told_to_edit() -> None:
    @module_pass
    def copied(module: Any) -> Any:
        return module.clone()

    with pytest.raises(PassError, match="returned another module, but a pass edits the one") as caught:
        Pipeline((copied,)).run(toy("old"))
    assert "    def copied(module: Any) -> Any:" not in str(caught.value)
    assert "    @module_pass" in str(caught.value)  # the first line of the function


def test_a_declared_pass_documents_itself() -> None:
    assert (replace.name, replace.summary, replace.__doc__) == ("replace", "Replaces a word by another.", replace.doc)
    assert stablehlo_only.dialects == ("stablehlo",)
    assert replace.dialects == ("hlo", "stablehlo")
    assert repr(replace.with_options(old="a")) == "replace(old='a')"


def test_a_module_of_the_wrong_form_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="pass stablehlo-only reads stablehlo, but module toy is hlo"):
        stablehlo_only.run(toy("x"))


def test_passes_run_in_order_and_are_seen() -> None:
    seen: list[PassRun] = []
    pipeline = Pipeline.parse("replace{old=a new=b},replace{old=b new=c}", pipelines={})
    result = pipeline.run(toy("a"), on_pass=seen.append)
    assert (result.module.text(), result.modified) == ("c", True)
    assert [(run.before.text(), run.result.module.text()) for run in seen] == [("a", "b"), ("b", "c")]
    assert tuple(seen) == result.runs


def test_the_pass_that_breaks_the_module_is_named() -> None:
    pipeline = Pipeline.parse("replace,replace{old=new new=broken},replace", pipelines={})
    with pytest.raises(DiagnosticError) as caught:
        pipeline.run(toy("old"))
    assert "no longer verifies after pass replace{old=new new=broken} (number 2)" in str(caught.value)
    assert "the word broken is in it" in str(caught.value)
    assert pipeline.run(toy("old"), verify_each=False).module.text() == "broken"


def test_a_pass_that_raises_is_named_with_its_module() -> None:
    module = toy("old")
    with pytest.raises(PassError) as caught:
        Pipeline.parse("replace,replace{loud=true}", pipelines={}).run(module)
    message = "pass replace{loud=true} (number 2) raised ZeroDivisionError on module toy: too loud"
    assert message in str(caught.value)
    assert (str(caught.value.step), caught.value.before.text()) == ("replace{loud=true}", "new")


def test_an_error_of_a_pass_is_one_exception_at_its_own_line() -> None:
    with pytest.raises(PassError) as caught:
        Pipeline.parse("replace{loud=true}", pipelines={}).run(toy("old"))
    shown = "".join(traceback.format_exception(caught.value))
    line = 'raise ZeroDivisionError("too loud")'
    assert "direct cause" not in shown
    assert "another exception" not in shown
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == line
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert location.source.name == toy.__code__.co_filename
    assert location.source.text[location.span.start : location.span.end] == line
    assert isinstance(caught.value.raised, ZeroDivisionError)


def test_the_old_name_of_a_pass_is_read_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base.OLD_NAMES, "swap", "replace")
    pipeline = Pipeline.parse("replace,swap{old=a}", pipelines={})
    assert str(pipeline) == "replace,replace{old=a}"
    assert list(map(render, pipeline.notes)) == [
        "<pipeline>:1:9: note: pass swap is called replace now\n  replace,swap{old=a}\n          ^~~~"
    ]


def test_a_broken_input_is_not_blamed_on_a_pass() -> None:
    with pytest.raises(DiagnosticError, match=r"^error: the word broken is in it$"):
        Pipeline.parse("replace", pipelines={}).run(toy("broken"))


def test_named_pipelines_stand_for_their_passes(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[twice]\nsummary = "Two."\npasses = "replace,replace{old=x}"\n[nest]\npasses = "twice,replace"\n')
    known = named_pipelines([file])
    assert known["twice"].summary == "Two."
    assert str(Pipeline.parse("nest", pipelines=known)) == "replace,replace{old=x},replace"
    with pytest.raises(DiagnosticError, match="pipeline twice has no options"):
        Pipeline.parse("twice{a=b}", pipelines=known)


def test_a_pipeline_that_contains_itself_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[a]\npasses = "b"\n[b]\npasses = "a"\n')
    with pytest.raises(DiagnosticError, match="pipeline a contains itself"):
        Pipeline.parse("a", pipelines=read_pipelines(file))


@pytest.mark.parametrize("text", ["[a]\nsummary = 'x'", "a = 1", "[a", "[a]\npasses = 1"])
def test_a_bad_pipeline_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(DiagnosticError, match=r"mine\.toml:"):
        read_pipelines(file)
    with pytest.raises(DiagnosticError, match=r"absent\.toml"):
        read_pipelines(tmp_path / "absent.toml")


def _write(path: str, data: bytes) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_bytes(data)


def test_dumps_and_prints_show_each_module(tmp_path: Path) -> None:
    stream = io.StringIO()
    pipeline = Pipeline.parse("replace,replace{old=new new=newer}", pipelines={})
    dump, show = dump_to(tmp_path / "d", _write), print_after(stream, ["all"])

    def observe(run: PassRun) -> None:
        dump(run)
        show(run)

    runs = pipeline.run(toy("old"), on_pass=observe).runs
    written = {file.name: file.read_text() for file in sorted((tmp_path / "d").iterdir())}
    assert written == {"00-input.hlo": "old", "01-replace.hlo": "new", "02-replace.hlo": "newer"}
    assert "IR dump after replace{old=new new=newer} //----- //\nnewer\n" in stream.getvalue()
    assert format_timing(runs).splitlines()[-1].endswith("100.0 %  total")


def test_the_passes_named_are_printed_and_what_changed() -> None:
    before, after, changed = io.StringIO(), io.StringIO(), io.StringIO()
    observers = print_after(after, ["replace"]), print_changed(changed)

    def observe(run: PassRun) -> None:
        for each in observers:
            each(run)

    pipeline = Pipeline.parse("replace,verify-layouts,replace{old=x}", pipelines={})
    show = print_before(before, ["verify-layouts"])
    pipeline.run(toy("old"), before_pass=show, on_pass=observe)
    assert before.getvalue() == "// -----// IR dump before verify-layouts //----- //\nnew\n"
    dumped = [line for line in after.getvalue().splitlines() if "IR dump" in line]
    assert dumped == [f"// -----// IR dump after {step} //----- //" for step in ("replace", "replace{old=x}")]
    assert changed.getvalue() == (
        "// -----// IR dump after replace //----- //\nnew\n"
        "// -----// IR dump after verify-layouts omitted: no change //----- //\n"
        "// -----// IR dump after replace{old=x} omitted: no change //----- //\n"
    )


def test_other_packages_add_passes_but_cannot_take_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    group = base.ENTRY_POINT_GROUP
    mine = EntryPoint("stablehlo-only", "tests.passes.toy:stablehlo_only", group)
    wrong_name = EntryPoint("other", "tests.passes.toy:replace", group)
    absent = EntryPoint("absent", "tests.passes.absent:X", group)
    found = {point.name: [point] for point in (mine, wrong_name, absent)}
    found["twice"] = [EntryPoint("twice", "a:B", group), EntryPoint("twice", "c:D", group)]
    found["replace"] = [EntryPoint("replace", "tests.passes.toy:stablehlo_only", group)]
    monkeypatch.setattr(base, "BUILTIN_PASSES", {"replace": "tests.passes.toy"})
    monkeypatch.setattr(base, "_entry_points", lambda: found)
    assert base.pass_names() == ["replace", "stablehlo-only", "other", "absent", "twice"]
    assert base.load_pass("stablehlo-only") is stablehlo_only
    assert base.load_pass("replace") is replace
    for name, message in [("other", "not a pass called other"), ("absent", "cannot be loaded"), ("twice", "a:B and")]:
        with pytest.raises(DiagnosticError, match=message):
            base.load_pass(name)
