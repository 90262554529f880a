"""The names that `relayout` exports: pinned, documented, each with an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import relayout
import relayout.jax
from dialect_utils.text import DiagnosticError
from tests.pages import Example, examples
from tests.paths import ROOT

PUBLIC = (
    *(
        "read",
        "parse",
        "from_jax",
        "write",
        "Module",
        "optimize",
        "check",
        "validate",
        "why",
        "run",
        "Verdict",
        "report",
        "tune",
    ),
    *("parse_shape", "Shape", "Layout", "linear_index", "explain", "draw"),
    *("Strided", "compose", "inverse", "complement", "divide"),
    *("Pipeline", "Pass", "module_pass", "Report", "DiagnosticError"),
)
# A union of classes has no docstring.
SHAPE = """
>>> shape: relayout.Shape = relayout.parse_shape("(f32[3,5]{1,0}, token[])")
>>> shape, len(list(shape.leaves()))
((f32[3,5]{1,0}, token[]), 2)
"""


def test_the_public_names_are_these() -> None:
    assert tuple(relayout.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(relayout))
    with pytest.raises(AttributeError, match="has no attribute reed"):
        getattr(relayout, "reed")  # noqa: B009  # the type checker knows


EXAMPLES = [*examples(), Example("relayout", "Shape", SHAPE)]


def test_every_name_is_documented_with_an_example() -> None:
    shown = {each.name for each in EXAMPLES}
    assert all(inspect.getdoc(getattr(relayout, name)) for name in PUBLIC)
    # A search needs the TPU compiler, as that of JAX functions does.
    assert set(PUBLIC) - shown == {"tune"}
    assert set(relayout.jax.__all__) - shown == {"Applied", "Dump", "Tuned", "dump", "tune"}


@pytest.mark.parametrize("shown", EXAMPLES, ids=lambda each: each.name)
def test_the_example_of_a_docstring_runs(shown: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"relayout": relayout, "__name__": "example", "__annotations__": {}}
    if shown.name not in PUBLIC:
        scope[shown.name] = getattr(importlib.import_module(shown.module), shown.name)
    example = doctest.DocTestParser().get_doctest(shown.text, scope, shown.name, None, None)
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(example, out=failures.append)
    assert failures == []


def test_an_example_that_does_not_hold_is_found() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner().run(wrong, out=lambda _: None).failed == 1


def python(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_names_are_imported_where_they_are_used() -> None:
    probe = "import sys; print([m for m in ('numpy', 'jax', 'dialect_utils.layout') if m in sys.modules])"
    assert python(f"import relayout; {probe}") == "[]\n"
    assert python(f"import relayout; relayout.explain('f32[3,5]'); {probe}") == "['dialect_utils.layout']\n"


def test_the_version_is_said_without_any_of_the_work() -> None:
    probe = "import sys; print([m for m in ('dialect_utils.layout', 'dialect_utils.io.files') if m in sys.modules])"
    code = f"from relayout.cli import main; main(['--version']); {probe}"
    assert python(code).splitlines()[1:] == ["[]"]


NEGATE = (ROOT / "examples" / "negate.hlo").read_text()


@pytest.mark.parametrize(
    "given",
    [
        NEGATE,
        NEGATE.encode(),
        "examples/negate.hlo",
        Path("examples/negate.hlo"),
        relayout.parse(NEGATE),
        "ENTRY main { x = f32[3,5]{1,0:T(2,2)} parameter(0) ROOT y = f32[3,5]{1,0} negate(x) }",
    ],
    ids=["text", "bytes", "a path as text", "a path", "a module", "a text of one line"],
)
def test_a_module_is_taken_as_text_bytes_path_and_object(given: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    module = relayout.optimize(given, "strip-layouts")  # type: ignore[arg-type]  # of all kinds
    assert [str(value.shape) for value in module.entry.parameters] == ["f32[3,5]"]


def test_passes_by_name_are_a_pipeline() -> None:
    strip = relayout.Pipeline.parse("strip-layouts").passes[0]
    names: list[str | relayout.Pass] = ["annotate-layouts{target=tpu-v5e},expand-tiling", strip]
    written = "annotate-layouts{target=tpu-v5e},expand-tiling,strip-layouts"
    assert str(relayout.optimize(NEGATE, names)) == str(relayout.optimize(NEGATE, written))
    with pytest.raises(DiagnosticError, match="unknown pass expand"):
        relayout.optimize(NEGATE, ["expand"])


def test_what_is_no_module_is_said() -> None:
    with pytest.raises(TypeError, match=r"expected a module, its text or bytes, or a path, not an int"):
        relayout.optimize(3, "expand-tiling")  # type: ignore[arg-type]  # what must fail
    with pytest.raises(TypeError, match="check takes another module, or passes"):
        relayout.check(NEGATE)


def test_a_target_is_taken_where_its_name_is() -> None:
    from dialect_utils.layout.targets.known import TARGETS
    from passes.layouts.annotate_layouts import annotate_layouts

    target = TARGETS["tpu-v2"]
    assert str(relayout.explain("s4[100,200]", target)) == str(relayout.explain("s4[100,200]", "tpu-v2"))
    step = annotate_layouts.with_options(target=target)  # type: ignore[arg-type]  # a target, too
    assert str(step) == "annotate-layouts{target=tpu-v2}"


@pytest.mark.parametrize(
    "text", ["f32[3,5]{1,0:T(2,2)}", "(f32[3], token[])", "opaque[]", "bf16[<=3,?]", "pred[]", "b(f32[3])"]
)
def test_the_repr_of_a_shape_is_its_text(text: str) -> None:
    shape = relayout.parse_shape(text)
    assert repr(shape) == str(shape) == text


def test_the_repr_of_a_long_module_is_its_begin_and_end() -> None:
    lines = "".join(f"  n{i} = f32[3] negate(p)\n" for i in range(100))
    module = relayout.parse(
        f"HloModule m\n\nENTRY e {{\n  p = f32[3] parameter(0)\n{lines}  ROOT r = f32[3] negate(p)\n}}\n"
    )
    shown = repr(module).splitlines()
    assert (shown[0], shown[30], shown[-1]) == ("HloModule m", "... 46 more lines ...", "}")
    assert len(shown) == 61
