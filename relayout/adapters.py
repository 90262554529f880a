"""What is taken where a module or a shape is taken: values, text, bytes and paths."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import SupportsIndex, TypeAlias, cast

from dialect_utils.io.files import encode, parse_bytes, read_module
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.text.parse import read_shape
from dialect_utils.text import Diagnostic, DiagnosticError, kind_of

ModuleLike: TypeAlias = "Module | str | bytes | os.PathLike[str]"
ShapeLike: TypeAlias = "Shape | str"


def as_module(value: ModuleLike, name: str = "<text>") -> Module:
    """Returns a module: itself, or parsed from text, from bytes of any format, or from a file.

    What JAX lowered, compiled or exported is taken, too. A text with a line break or a brace is a module's text, any
    other is a path; `name` is what diagnostics call a text.
    Raises DiagnosticError for what cannot be read or parsed, TypeError for what is no module at all.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return parse_bytes(bytes(value), name)
    if isinstance(value, str):
        return parse_bytes(encode(value), name) if is_text(value) else read_module(value)
    if isinstance(value, os.PathLike):
        return read_module(os.fspath(value))
    return _from_object(value)


def is_text(value: str) -> bool:
    """Is true for a text that is a module's, and no path."""
    return "\n" in value or "{" in value or not value.strip()


def _from_object(value: object) -> Module:
    """Returns a module made from an object of another library; the one place that knows such libraries."""
    if hasattr(value, "dialect") and hasattr(value, "functions"):
        return cast(Module, value)
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
        # Imported here: who has such an object has paid for JAX.
        from relayout.jax.modules import module_of

        return module_of(value)
    hint = "; relayout.from_jax(f, *args) makes one of a function" if callable(value) else ""
    raise TypeError(f"expected a module, its text or bytes, or a path, not {kind_of(value)}{hint}")


def as_path(value: object, hint: str) -> str:
    """Returns a path as a text; raises TypeError for what is none, with a hint."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str):
        raise TypeError(f"expected a path, not {kind_of(value)}; {hint}")
    return path


def as_index(value: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Returns an index as integers; raises TypeError for what is none."""
    try:
        return tuple(operator.index(each) for each in value)
    except TypeError:
        raise TypeError(f"expected an index of integers such as (2, 3), not {value!r}") from None


def as_array_shape(value: ShapeLike) -> ArrayShape:
    """Returns an array's shape: itself, or parsed from text as people type it; raises DiagnosticError for others."""
    shape = read_shape(value)[0] if isinstance(value, str) else value
    if not isinstance(shape, ArrayShape):
        found = shape if isinstance(shape, Shape) else kind_of(shape)
        raise DiagnosticError(Diagnostic(f"expected an array shape, found {found}", hint=_shape_hint(value)))
    return shape


def _shape_hint(value: object) -> str | None:
    """Returns what to write in place of what is no shape: an array, JAX's layout, numbers."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return "relayout.jax.from_struct(...) gives its shape"
    if type(value).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return None if isinstance(value, str | Shape) else "write it as text: 'f32[3,5]'"
    return "a layout alone is no shape: relayout.jax.from_jax_layout(...) makes one that shape.with_layout(...) takes"
