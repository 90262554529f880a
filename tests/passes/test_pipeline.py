from __future__ import annotations

import io
from dataclasses import FrozenInstanceError
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from dialect_utils.text import DiagnosticError
from passes import registry
from passes.instrumentation import dump_to, format_timing, print_after_all
from passes.pipeline import PassRun, Pipeline, named_pipelines, read_pipelines
from tests.passes.toy import Replace, StablehloOnly, toy

pytestmark = pytest.mark.usefixtures("toy_passes")


def test_run_edits_a_clone_and_says_whether_it_changed() -> None:
    module = toy("old words")
    result = Replace().run(module)
    assert (result.module.text(), result.modified, result.notes) == ("new words", True, ())
    assert module.text() == "old words"
    again = Replace().run(result.module)
    assert again.module is result.module
    assert not again.modified
    assert [note.message for note in again.notes] == ["no old"]


def test_a_pass_is_a_value() -> None:
    assert Replace(old="a") == Replace(old="a")
    with pytest.raises(FrozenInstanceError):
        Replace().old = "b"  # type: ignore[misc]  # what must fail


def test_a_module_of_the_wrong_form_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="pass stablehlo-only reads stablehlo, but module toy is hlo"):
        StablehloOnly().run(toy("x"))


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
    assert "the word broken stands here" in str(caught.value)
    assert pipeline.run(toy("old"), verify_each=False).module.text() == "broken"


def test_a_broken_input_is_not_blamed_on_a_pass() -> None:
    with pytest.raises(DiagnosticError, match=r"^error: the word broken stands here$"):
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
    with pytest.raises(DiagnosticError, match=r"mine\.toml: "):
        read_pipelines(file)
    with pytest.raises(DiagnosticError, match=r"absent\.toml"):
        read_pipelines(tmp_path / "absent.toml")


def test_dumps_and_prints_show_each_module(tmp_path: Path) -> None:
    stream = io.StringIO()
    pipeline = Pipeline.parse("replace,replace{old=new new=newer}", pipelines={})
    dump, show = dump_to(tmp_path / "d"), print_after_all(stream)

    def observe(run: PassRun) -> None:
        dump(run)
        show(run)

    runs = pipeline.run(toy("old"), on_pass=observe).runs
    written = {file.name: file.read_text() for file in sorted((tmp_path / "d").iterdir())}
    assert written == {"00-input.hlo": "old", "01-replace.hlo": "new", "02-replace.hlo": "newer"}
    assert "IR dump after replace{old=new new=newer} //----- //\nnewer\n" in stream.getvalue()
    assert format_timing(runs).splitlines()[-1].endswith("100.0 %  total")


def test_other_packages_add_passes_but_cannot_take_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    group = registry.ENTRY_POINT_GROUP
    mine = EntryPoint("stablehlo-only", "tests.passes.toy:StablehloOnly", group)
    wrong_name = EntryPoint("other", "tests.passes.toy:Replace", group)
    absent = EntryPoint("absent", "tests.passes.absent:X", group)
    found = {point.name: [point] for point in (mine, wrong_name, absent)}
    found["twice"] = [EntryPoint("twice", "a:B", group), EntryPoint("twice", "c:D", group)]
    found["replace"] = [EntryPoint("replace", "tests.passes.toy:StablehloOnly", group)]
    monkeypatch.setattr(registry, "BUILTIN_PASSES", {"replace": "tests.passes.toy:Replace"})
    monkeypatch.setattr(registry, "_entry_points", lambda: found)
    assert registry.pass_names() == ["replace", "stablehlo-only", "other", "absent", "twice"]
    assert registry.load_pass("stablehlo-only") is StablehloOnly
    assert registry.load_pass("replace") is Replace
    for name, message in [("other", "is not a Pass named other"), ("absent", "cannot be loaded"), ("twice", "a:B and")]:
        with pytest.raises(DiagnosticError, match=message):
            registry.load_pass(name)
