"""What is taken where a module or a shape is taken: values, text, bytes and paths."""

from __future__ import annotations

import os
from typing import TypeAlias, cast

from dialect_utils.files import encode, parse_bytes, read_module
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.text.parse import read_shape
from dialect_utils.text import Diagnostic, DiagnosticError

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
        return parse_bytes(encode(value), name) if _is_text(value) else read_module(value)
    if isinstance(value, os.PathLike):
        return read_module(os.fspath(value))
    return _from_object(value)


def _is_text(value: str) -> bool:
    return "\n" in value or "{" in value or not value.strip()


def _from_object(value: object) -> Module:
    """Returns a module made from an object of another library; the one place that knows such libraries."""
    if hasattr(value, "dialect") and hasattr(value, "functions"):
        return cast(Module, value)
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
        # Imported here: who has such an object has paid for JAX.
        from relayout.jax.modules import module_of

        return module_of(value)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise TypeError(f"expected a module, its text or bytes, or a path, not a {kind}")


def as_array_shape(value: ShapeLike) -> ArrayShape:
    """Returns an array's shape: itself, or parsed from text as people type it; raises DiagnosticError for others."""
    shape = read_shape(value)[0] if isinstance(value, str) else value
    if not isinstance(shape, ArrayShape):
        raise DiagnosticError(Diagnostic(f"expected an array shape, found {shape}", hint=_shape_hint(value)))
    return shape


def _shape_hint(value: object) -> str | None:
    """Returns what to write in place of a JAX object."""
    if type(value).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return None
    if hasattr(value, "shape"):
        return "relayout.jax.from_struct(...) gives its shape"
    return "a layout alone is no shape: relayout.jax.from_jax_layout(...) makes one that shape.with_layout(...) takes"
