"""HLO of Python functions that the user names; JAX traces them."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from dialect_utils.layout import ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError
from dialect_utils.text.input_file import located

_WIDE_BITS = 64


def imported_function(text: str) -> Callable[..., Any]:
    """Imports `module:function`, as `python -m` finds modules; raises DiagnosticError where that fails.

    The import runs the module's code in this process, because the user names it.
    """
    name, separator, attribute = text.partition(":")
    if not separator or not name or not attribute:
        raise DiagnosticError(f"{text} is not of the form module:function")
    here = os.path.abspath(located(os.curdir))
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(name), attribute)
    except Exception as error:  # the user's module may raise anything
        raise DiagnosticError(f"{text} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise DiagnosticError(f"{text} is {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function


def traced_function(text: str, operands: Sequence[ArrayShape], results: Sequence[ArrayShape]) -> str:
    """Returns the HLO text of the function `module:function` for these operands.

    Raises DiagnosticError for a function that JAX cannot trace, or that returns other results.
    """
    import jax

    function = imported_function(text)
    with jax.enable_x64(any(_is_wide(shape) for shape in (*operands, *results))):
        specs = [jax.ShapeDtypeStruct(shape.dimensions, dtype_of(shape.element_type)) for shape in operands]
        try:
            found = jax.tree.leaves(jax.eval_shape(function, *specs))
            traced = jax.jit(function, keep_unused=True).trace(*specs)
            lowered = traced.lower(lowering_platforms=("cpu",)).as_text(dialect="hlo")
        except Exception as error:  # the user's function may raise anything
            message = f"{text} cannot be traced: {type(error).__name__}: {str(error).splitlines()[0]}"
            raise DiagnosticError(message, hint="JAX traces it: write it with jax.numpy") from error
    expected = [(shape.dimensions, dtype_of(shape.element_type)) for shape in results]
    returned = [(each.shape, each.dtype) for each in found]
    if returned != expected:
        raise DiagnosticError(f"{text} returns {_told(returned)}, where {_told(expected)} is expected")
    return str(lowered)


def _is_wide(shape: ArrayShape) -> bool:
    part = shape.element_type.bits // (2 if shape.element_type.is_complex else 1)
    return part >= _WIDE_BITS


def _told(arrays: Sequence[tuple[tuple[int, ...], Any]]) -> str:
    return ", ".join(f"{dtype}[{','.join(map(str, dims))}]" for dims, dtype in arrays) or "nothing"
