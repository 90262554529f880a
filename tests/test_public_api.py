"""The names that `relayout` exports: pinned, documented, each with an example that runs."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import relayout
from dialect_utils.text import DiagnosticError
from tests.paths import ROOT

PUBLIC = (
    *("read", "parse", "from_jax", "write", "Module", "optimize", "check", "run", "Verdict", "memory_report"),
    *("parse_shape", "Shape", "Layout", "linear_index", "explain", "draw"),
    *("Pipeline", "Pass", "module_pass", "Report"),
)
# Examples of what is no function of this package's; the functions have theirs in their docstrings.
EXAMPLES = {
    "Module": """
>>> module: relayout.Module = relayout.read("examples/negate.hlo")
>>> module.name, module.dialect, len(module.functions)
('negate', 'hlo', 1)
>>> module
HloModule negate
<BLANKLINE>
ENTRY main {
  x = f32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT y = f32[3,5]{1,0} negate(x)
}
""",
    "from_jax": """
>>> import jax.numpy as jnp
>>> module = relayout.from_jax(lambda x, y: jnp.tanh(x @ y), jnp.ones((3, 5)), jnp.ones((5, 4)))
>>> module.dialect, [value.shape for value in module.entry.parameters]
('stablehlo', [f32[3,5], f32[5,4]])
""",
    "Verdict": """
>>> verdict: relayout.Verdict = relayout.check("examples/negate.hlo", passes="expand-tiling")
>>> verdict.verdict, verdict.methods
('equal', ('proof', 'xla'))
""",
    "parse_shape": """
>>> relayout.parse_shape("f32[3,5]{1,0:T(2,2)}").layout.tiles
((2,2),)
""",
    "Shape": """
>>> shape: relayout.Shape = relayout.parse_shape("(f32[3,5]{1,0}, token[])")
>>> shape, len(shape.elements)
((f32[3,5]{1,0}, token[]), 2)
""",
    "Layout": """
>>> layout: relayout.Layout = relayout.parse_shape("f32[3,5]{0,1:T(2,2)S(1)}").layout
>>> layout, layout.major_to_minor, layout.memory_space
({0,1:T(2,2)S(1)}, (1, 0), 1)
""",
    "Pipeline": """
>>> pipeline = relayout.Pipeline.parse("annotate-layouts{target=tpu-v5e},expand-tiling")
>>> result = pipeline.run(relayout.read("examples/attention.mlir"))
>>> [(str(run.step), run.result.modified) for run in result.runs]
[('annotate-layouts{target=tpu-v5e}', True), ('expand-tiling', True)]
""",
    "Pass": """
>>> step: relayout.Pass = relayout.Pipeline.parse("expand-tiling").passes[0]
>>> step.with_options(interface="physical")
<pass expand-tiling{interface=physical}>
>>> step.run(relayout.read("examples/negate.hlo")).modified
True
""",
    "module_pass": """
>>> @relayout.module_pass
... def count_ops(module: relayout.Module, report: relayout.Report, *, most: int = 3) -> None:
...     "Notes how many ops each function has."
...     for function in module.functions:
...         if len(function.operations) < most:
...             report.note(f"{len(function.operations)} ops")
>>> relayout.optimize("examples/negate.hlo", [count_ops, count_ops.with_options(most=0)]).name
'negate'
""",
    "Report": """
>>> report = relayout.Report()
>>> report.note("left alone")
>>> report.diagnostics[0].message
'left alone'
""",
}


def test_the_public_names_are_these() -> None:
    assert tuple(relayout.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(relayout))
    with pytest.raises(AttributeError, match="has no attribute reed"):
        getattr(relayout, "reed")  # noqa: B009  # the type checker knows


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_is_documented_and_its_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = getattr(relayout, name)
    assert inspect.getdoc(value)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    text = EXAMPLES.get(name) or inspect.getdoc(value) or ""
    scope = {"relayout": relayout, "__name__": "example", "__annotations__": {}}
    example = doctest.DocTestParser().get_doctest(text, scope, name, None, None)
    assert example.examples, f"{name} has no example"
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
    from dialect_utils.layout.targets.tpu import TARGETS
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
