"""Annotations of StableHLO: layouts on operations, arguments and results, and shardings.

docs/conventions.md lists the conventions for layouts, their order and reasons. Every function for layouts raises
DiagnosticError, located in the annotation's own text, for an annotation that is no layout or has another type. When
the dimensions of a value change, a sharding that splits no dimension follows, and any other is an error: Shardy's
`#sdy.sharding` and `#sdy.sharding_per_value` hold one list of dimensions per value, `mhlo.sharding` an OpSharding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from dialect_utils.layout import ArrayShape, Layout, Shape, TupleShape, parse_layout, parse_shape
from dialect_utils.layout.layout import LayoutFieldError
from dialect_utils.stablehlo.bindings import attribute_of, ir, string_value
from dialect_utils.stablehlo.types import shape_of_type
from dialect_utils.text import DiagnosticError, Source, Span, error_at

XLA_SHAPE = "xla_shape"
LAYOUT_MODE = "mhlo.layout_mode"
FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
# Keys of the layouts' copies ("mirrors") in frontend attributes: for an operation or argument, and on the module for
# main's results, because HLO has no attributes of results.
MIRROR = "relayout.xla_shape"
RESULT_MIRROR = "relayout.result_shapes"
# XLA's importer writes minor_to_major a second time. No reader uses it, so it is dropped rather than updated.
_RESULT_LAYOUT = "result_layout"
DEFAULT_MODE = "default"
_UNSPECIFIED = (DEFAULT_MODE, "auto")
_SDY, _MHLO = "sdy.sharding", "mhlo.sharding"
SHARDINGS = (_SDY, _MHLO)
# The dimensions of one value, after its mesh.
_DIMENSIONS = re.compile(r"(?<=, )\[(?:\{[^{}]*\}(?:p\d+)?(?:, )?)*\]")
_WHOLE = re.compile(r"(?:replicated|manual|maximal device=\d+|[{}, ])*")


def sharding_text(attributes: Mapping[str, ir.Attribute]) -> str | None:
    """Returns the text of a value's sharding, that of Shardy first; None without one."""
    found = next((attributes[name] for name in SHARDINGS if name in attributes), None)
    return None if found is None else string_value(found) if isinstance(found, ir.StringAttr) else str(found)


def as_written(shape: Shape) -> Shape:
    """Returns the shape without default layouts; raises ValueError for padded_dimensions, which have no text form."""
    return shape.map_arrays(_as_written)


def _as_written(array: ArrayShape) -> ArrayShape:
    layout = array.layout
    if layout is None or layout.is_default:
        return array.without_layout
    if layout.padded_dimensions is not None:
        raise ValueError(f"padded_dimensions of {array} have no text form, so StableHLO cannot carry them")
    return array


def operation_shapes(operation: ir.Operation) -> tuple[Shape, ...]:
    """Returns the shapes of an operation's results, with the layouts of `xla_shape` or its mirror."""
    natural = tuple(shape_of_type(result.type) for result in operation.results)
    text = string_attribute(operation, XLA_SHAPE)
    if text is not None:
        shapes = _try_fitting(parse_shape(text), natural)
        if shapes is None:
            expected = natural[0] if len(natural) == 1 else TupleShape(natural)
            message = f"{XLA_SHAPE} {text} does not fit the type, which is {expected}"
            raise error_at(Source("<shape>", text), Span(0, len(text)), message, "change or remove the annotation")
        return shapes
    return _mirrored(_text_at(_frontend(operation), MIRROR), natural) or natural


def operation_shape(operation: ir.Operation, index: int) -> Shape:
    """Returns the shape of one result of an operation, as `operation_shapes` does."""
    attributes = operation.attributes
    if XLA_SHAPE not in attributes and FRONTEND_ATTRIBUTES not in attributes:
        return shape_of_type(operation.results[index].type)
    return operation_shapes(operation)[index]


def annotate_operation(operation: ir.Operation, shapes: Sequence[Shape]) -> None:
    """Writes the layouts of an operation's results; removes the annotation where all are default."""
    written = tuple(map(as_written, shapes))
    text = str(written[0] if len(written) == 1 else TupleShape(written))
    is_plain = all(shape == shape.without_layout for shape in written)
    attributes = operation.attributes
    for name in (XLA_SHAPE, _RESULT_LAYOUT):
        if name in attributes:
            del attributes[name]
    if not is_plain:
        attributes[XLA_SHAPE] = ir.StringAttr.get(text, operation.context)
    set_frontend_entry(operation, MIRROR, None if is_plain else text)


def layout_mode(attributes: Mapping[str, ir.Attribute]) -> str:
    """Returns the layout mode of an argument or result: `default`, `auto`, or a layout such as `{0,1}`."""
    mode = attributes.get(LAYOUT_MODE)
    return string_value(mode) if isinstance(mode, ir.StringAttr) else DEFAULT_MODE


def with_layout_mode(attributes: Mapping[str, ir.Attribute], mode: str, context: ir.Context) -> dict[str, ir.Attribute]:
    """Returns attributes with a layout mode, also with the descending layout: a target has a default of its own."""
    changed = {name: value for name, value in attributes.items() if name != LAYOUT_MODE}
    return changed if mode == DEFAULT_MODE else {**changed, LAYOUT_MODE: ir.StringAttr.get(mode, context)}


def mode_shape(natural: Shape, mode: str) -> Shape:
    """Returns a shape with the layout of a mode; without one for `default` and `auto`."""
    if mode in _UNSPECIFIED or not isinstance(natural, ArrayShape):
        return natural
    return _with_layout(natural, mode)


def interface_shape(attributes: Mapping[str, ir.Attribute], natural: Shape) -> Shape | None:
    """Returns an argument's or result's shape with the layout of its own attributes, or None without one."""
    mode = layout_mode(attributes)
    if mode not in _UNSPECIFIED and isinstance(natural, ArrayShape):
        return _with_layout(natural, mode)
    shapes = _mirrored(_text_at(attributes.get(FRONTEND_ATTRIBUTES), MIRROR), (natural,))
    return shapes[0] if shapes else None


def annotated_interface(
    attributes: Mapping[str, ir.Attribute], shape: Shape, context: ir.Context, *, is_mirrored: bool
) -> dict[str, ir.Attribute]:
    """Returns an argument's or result's attributes with the layout of `shape`."""
    written = as_written(shape)
    is_plain = written == written.without_layout
    changed = {name: value for name, value in attributes.items() if name not in (LAYOUT_MODE, FRONTEND_ATTRIBUTES)}
    if isinstance(written, ArrayShape) and written.layout is not None:
        changed[LAYOUT_MODE] = ir.StringAttr.get(str(written.layout), context)
    elif LAYOUT_MODE in attributes and layout_mode(attributes) in _UNSPECIFIED:
        changed[LAYOUT_MODE] = attributes[LAYOUT_MODE]
    mirror = str(written) if is_mirrored and not is_plain else None
    frontend = with_entry(attributes.get(FRONTEND_ATTRIBUTES), MIRROR, mirror, context)
    if frontend is not None:
        changed[FRONTEND_ATTRIBUTES] = frontend
    return changed


def result_mirror(module: ir.Operation, natural: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
    """Returns the shapes of main's results as the module's frontend attribute gives them, or None."""
    return _mirrored(_text_at(_frontend(module), RESULT_MIRROR), natural)


def set_result_mirror(module: ir.Operation, shapes: Sequence[Shape]) -> None:
    """Writes the layouts of main's results into the module's frontend attribute."""
    written = tuple(map(as_written, shapes))
    is_plain = all(shape == shape.without_layout for shape in written)
    set_frontend_entry(module, RESULT_MIRROR, None if is_plain else str(TupleShape(written)))


def frontend_entries(operation: ir.Operation) -> dict[str, str]:
    """Returns the frontend attributes of an operation, the mirror included."""
    entries = attribute_entries(_frontend(operation))
    return {name: string_value(found) for name, found in entries.items() if isinstance(found, ir.StringAttr)}


def set_frontend_entry(operation: ir.Operation, key: str, text: str | None) -> None:
    """Changes, adds or (for None) drops one frontend attribute of an operation."""
    set_or_delete(operation, FRONTEND_ATTRIBUTES, with_entry(_frontend(operation), key, text, operation.context))


def string_attribute(operation: ir.Operation, name: str) -> str | None:
    """Returns the text of a string attribute, or None without one."""
    found = attribute_of(operation, name)
    return string_value(found) if isinstance(found, ir.StringAttr) else None


def text_of(operation: ir.Operation, name: str) -> str:
    """Returns the text of a string attribute that the operation must have."""
    return string_value(ir.StringAttr(operation.attributes[name]))


def set_or_delete(operation: ir.Operation, name: str, attribute: ir.Attribute | None) -> None:
    """Sets an attribute, or removes it for None."""
    if attribute is not None:
        operation.attributes[name] = attribute
    elif name in operation.attributes:
        del operation.attributes[name]


def with_entry(frontend: ir.Attribute | None, key: str, text: str | None, context: ir.Context) -> ir.Attribute | None:
    """Returns frontend attributes with one key set or removed; None where no key remains."""
    entries = attribute_entries(frontend)
    entries.pop(key, None)
    if text is not None:
        entries[key] = ir.StringAttr.get(text, context)
    return ir.DictAttr.get(entries, context) if entries else None


def attribute_entries(attribute: ir.Attribute | None) -> dict[str, ir.Attribute]:
    """Returns the entries of a dictionary attribute, an empty dictionary for any other attribute."""
    if not isinstance(attribute, ir.DictAttr):
        return {}
    return {attribute[i].name: attribute[i].attr for i in range(len(attribute))}


def _frontend(operation: ir.Operation) -> ir.Attribute | None:
    return attribute_of(operation, FRONTEND_ATTRIBUTES)


def _text_at(frontend: ir.Attribute | None, key: str) -> str | None:
    if not isinstance(frontend, ir.DictAttr) or key not in frontend:
        return None
    found = frontend[key]
    return string_value(found) if isinstance(found, ir.StringAttr) else None


def _mirrored(text: str | None, natural: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
    """Returns the shapes of a mirror, or None where it is absent or stale.

    XLA copies frontend attributes to all instructions that it makes of an operation, and changes the operands of a
    `while`: a mirror of another type belongs to another value.
    """
    return None if text is None else _try_fitting(parse_shape(text), natural)


def _try_fitting(shape: Shape, natural: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
    for shapes in ((shape,), shape.parts):
        if tuple(shape.without_layout for shape in shapes) == natural:
            return tuple(map(as_written, shapes))
    return None


@lru_cache(maxsize=4096)
def _with_layout(natural: ArrayShape, text: str) -> ArrayShape:
    # `{}` is the default layout of a scalar, but no layout in the text of a shape.
    layout = Layout(()) if text == "{}" and natural.rank == 0 else parse_layout(text)
    try:
        shape = natural.with_layout(layout)
    except LayoutFieldError as error:
        raise error_at(Source("<layout>", text), Span(0, len(text)), error.message, error.hint) from None
    written = _as_written(shape)
    assert isinstance(written, ArrayShape)
    return written


def changed_ranks(before: Sequence[Shape], after: Sequence[Shape]) -> list[int | None]:
    """Returns the new rank of each value whose dimensions change, None for the others."""
    pairs = zip(before, after, strict=True)
    dimensions = ((_dimensions(old), _dimensions(new)) for old, new in pairs)
    return [None if new is None or old == new else len(new) for old, new in dimensions]


def _dimensions(shape: Shape) -> tuple[int, ...] | None:
    return shape.dimensions if isinstance(shape, ArrayShape) else None


def followed_shardings(
    attributes: Mapping[str, ir.Attribute], ranks: Sequence[int | None]
) -> Iterator[tuple[str, ir.Attribute]]:
    """Yields the shardings that must change for values of new ranks (None: unchanged), by name.

    Raises DiagnosticError for one that splits a dimension.
    """
    if all(rank is None for rank in ranks):
        return
    found = attributes.get(_MHLO)
    if isinstance(found, ir.StringAttr) and not _WHOLE.fullmatch(string_value(found)):
        raise _rejected(_MHLO, string_value(found))
    sharding = attributes.get(_SDY)
    if sharding is not None:
        yield _SDY, _followed(sharding, ranks)


def with_sharding(
    entry: Mapping[str, ir.Attribute], axes: Sequence[Sequence[str]] | None, text: str
) -> dict[str, ir.Attribute] | None:
    """Returns attributes with another sharding: along axes of the mesh of Shardy's, or HLO's text; None without one."""
    if (found := entry.get(_SDY)) is not None and axes is not None:
        listed = ", ".join("{" + ", ".join(f'"{axis}"' for axis in each) + "}" for each in axes)
        return {**entry, _SDY: ir.Attribute.parse(_DIMENSIONS.sub(f"[{listed}]", str(found)), found.context)}
    found = entry.get(_MHLO)
    return None if found is None else {**entry, _MHLO: ir.StringAttr.get(text, found.context)}


def _followed(sharding: ir.Attribute, ranks: Sequence[int | None]) -> ir.Attribute:
    values = iter(ranks)

    def replace(match: re.Match[str]) -> str:
        rank = next(values, None)
        if rank is None:
            return match[0]
        if '"' in match[0]:
            raise _rejected(_SDY, str(sharding))
        return "[" + ", ".join(["{?}" if "?" in match[0] else "{}"] * rank) + "]"

    return ir.Attribute.parse(_DIMENSIONS.sub(replace, str(sharding)), sharding.context)


def _rejected(name: str, text: str) -> DiagnosticError:
    message = f"{name} {text} splits a dimension of a value whose dimensions change"
    return DiagnosticError(message, hint="partition the program first, or remove the sharding")
