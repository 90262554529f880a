"""What users get wrong, and the edit that the answer proposes."""

from __future__ import annotations

import shlex

import pytest

import relayout
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from tests.paths import ROOT

NEGATE = str(ROOT / "examples/negate.hlo")


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("expand-tiling FILE", 2, "passes are given with -p: relayout opt FILE -p expand-tiling"),
        ("FILE", 2, f"a command comes first: relayout opt {NEGATE}"),
        ("opt FILE -p expand-tiling(interface=physical)", 2, "write expand-tiling{interface=physical}"),
        ("opt FILE -p 'expand-tiling strip-layouts'", 2, "passes are separated by commas"),
        ("check FILE FILE --tolerance 1e-3", 2, "write --compare rel:X"),
        ("check FILE FILE --atol=1e-3", 2, "write --compare rel:X"),
        ("opt FILE --tolerance 1", 2, "relayout opt --help shows all options"),
        ("explain f32[3, 5]", 2, "quote it: 'f32[3, 5]'"),
        ("explain float[3,5]", 1, "write f32"),
        ("explain [3,5]", 1, "a shape begins with its element type: f32[3,5]"),
        ("explain '(0, 1)'", 1, "a shape begins with its element type: f32[3,5]"),
        ("explain 'tensor<3x5xf32'", 1, "write tensor<3x5xf32>"),
        ("explain 'Layout(major_to_minor=(0, 1), tiling=((8, 128),))'", 1, "a layout alone is no shape"),
        ("index f32[3,5] 2 3", 2, "write 2,3"),
        ("index f32[3,5] -1,0", 2, "an index is not negative"),
        ("bitcast f32[3,5] '->' f32[5,3]", 2, "write the two shapes without it"),
    ],
)
def test_an_answer_proposes_the_edit(command: str, status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [NEGATE if word == "FILE" else word for word in shlex.split(command)]
    assert main(words) == status
    assert said in capsys.readouterr().err


def test_a_jax_object_where_a_shape_is_expected_is_explained() -> None:
    import jax
    from jax.experimental.layout import Layout

    with pytest.raises(DiagnosticError, match=r"relayout\.jax\.from_struct"):
        relayout.explain(jax.ShapeDtypeStruct((3, 5), "float32"))  # type: ignore[arg-type]  # what must fail
    with pytest.raises(DiagnosticError, match="a layout alone is no shape"):
        relayout.explain(Layout((0, 1)))  # type: ignore[arg-type]


def test_linear_indices_are_as_many_as_one_likes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "f32[3,5]{1,0:T(2,2)}", "--linear", "17", "9"]) == 0
    assert main(["index", "f32[15]", "3", "4"]) == 0
    assert capsys.readouterr().out.splitlines() == ["2,3", "padding", "3", "4"]
