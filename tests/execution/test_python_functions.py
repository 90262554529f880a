from __future__ import annotations

from pathlib import Path

import pytest

from dialect_utils.execution.python_functions import traced_function
from dialect_utils.hlo import parse_module
from dialect_utils.layout import ArrayShape, parse_array_shape
from dialect_utils.text import DiagnosticError

MODULE = """
import jax.numpy as jnp
import numpy as np

number = 3

def scaled(a, b):
    return a * 2, jnp.sum(b)

def doubled(a):
    return np.asarray(a) * 2

def broken(a):
    raise ValueError("no\\nno")
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Writes a module into the working directory and returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "functions_of_a_user.py").write_text(MODULE)
    return "functions_of_a_user"


def shapes(*texts: str) -> list[ArrayShape]:
    return [parse_array_shape(text) for text in texts]


def test_a_function_is_traced_for_the_shapes_of_its_call(functions: str) -> None:
    operands = shapes("bf16[3,5]{0,1}", "f64[2]")
    text = traced_function(f"{functions}:scaled", operands, shapes("bf16[3,5]", "f64[]"))
    entry = parse_module(text).entry
    assert [str(parameter.shape.without_layout) for parameter in entry.parameters] == ["bf16[3,5]", "f64[2]"]
    assert str(entry.root.shape.without_layout) == "(bf16[3,5], f64[])"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{}", "is not of the form module:function"),
        ("no_such_module_anywhere:f", "cannot be imported: ModuleNotFoundError"),
        ("{}:absent", "cannot be imported: AttributeError"),
        ("{}:number", "is int, not a function"),
        ("{}:doubled", "cannot be traced: TracerArrayConversionError.*\nhint: JAX traces it"),
        ("{}:broken", "cannot be traced: ValueError: no\n"),
    ],
)
def test_a_function_that_jax_cannot_trace_is_rejected(functions: str, name: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        traced_function(name.format(functions), shapes("f32[4]"), shapes("f32[4]"))


def test_other_results_are_rejected(functions: str) -> None:
    with pytest.raises(DiagnosticError, match=r"returns float32\[4\], float32\[\], where float32\[4\] is expected"):
        traced_function(f"{functions}:scaled", shapes("f32[4]", "f32[4]"), shapes("f32[4]"))
