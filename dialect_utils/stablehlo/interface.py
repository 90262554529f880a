"""Shapes of a function's arguments and results, and the signature that follows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dialect_utils.layout import ArrayShape, Layout, Shape, Tile
from dialect_utils.stablehlo.annotations import (
    annotated_interface,
    as_written,
    attribute_entries,
    changed_ranks,
    followed_shardings,
    interface_shape,
    result_mirror,
    set_or_delete,
    set_result_mirror,
    string_attribute,
    text_of,
)
from dialect_utils.stablehlo.bindings import attribute_of, integer_list, ir
from dialect_utils.stablehlo.types import shape_of_type

ARGUMENTS, RESULTS = "arg_attrs", "res_attrs"
_TYPE = "function_type"


class Signature:
    """The types and attributes of the arguments and results of one `func.func`, as an edit list.

    MLIR keeps each of them as one attribute that is replaced as a whole: writing it after every change would take time
    quadratic in their number. The changes are written when the module is used.
    """

    __slots__ = ("_changed", "_entries", "_func", "_types", "owns_layouts")

    def __init__(self, func: ir.Operation) -> None:
        self._func = func
        self._types: dict[str, list[ir.Type]] | None = None
        self._entries: dict[str, list[ir.Attribute]] = {}
        # The attributes that are not written yet.
        self._changed: set[str] = set()
        # True once the module's attributes hold no more layouts.
        self.owns_layouts = False

    def types(self, kind: str) -> Sequence[ir.Type]:
        """Returns the types of the arguments or the results."""
        return self._known_types()[kind]

    def _known_types(self) -> dict[str, list[ir.Type]]:
        if self._types is None:
            found = ir.FunctionType(ir.TypeAttr(self._func.attributes[_TYPE]).value)
            self._types = {ARGUMENTS: list(found.inputs), RESULTS: list(found.results)}
        return self._types

    def set_type(self, kind: str, index: int, mlir_type: ir.Type) -> None:
        """Changes one type."""
        known = self._known_types()[kind]
        if known[index] != mlir_type:
            known[index] = mlir_type
            self._changed.add(_TYPE)

    def entries(self, kind: str) -> Sequence[ir.Attribute]:
        """Returns the dictionary attribute, possibly empty, of each argument or result."""
        if kind not in self._entries:
            attributes = self._func.attributes
            if kind in attributes:
                self._entries[kind] = list(ir.ArrayAttr(attributes[kind]))
            else:
                self._entries[kind] = [self._empty()] * len(self.types(kind))
        return self._entries[kind]

    def _empty(self) -> ir.Attribute:
        return ir.DictAttr.get({}, self._func.context)

    def set_entry(self, kind: str, index: int, entry: dict[str, ir.Attribute]) -> None:
        """Changes the attributes of one argument or result."""
        self.entries(kind)
        self._entries[kind][index] = ir.DictAttr.get(entry, self._func.context)
        self._changed.add(kind)

    def write(self) -> None:
        """Writes the changes."""
        context = self._func.context
        if _TYPE in self._changed:
            made = ir.FunctionType.get([*self.types(ARGUMENTS)], [*self.types(RESULTS)], context)
            self._func.attributes[_TYPE] = ir.TypeAttr.get(made, context)
        nothing = self._empty()
        for kind in self._changed & {ARGUMENTS, RESULTS}:
            entries = self._entries[kind]
            is_empty = all(entry == nothing for entry in entries)
            set_or_delete(self._func, kind, None if is_empty else ir.ArrayAttr.get(entries, context))
        self._changed.clear()


ENTRY_NAME = "main"
# XLA's importer writes these for the whole entry: minor_to_major and tiles of each array.
_MODULE_LAYOUTS = {
    ARGUMENTS: ("mhlo.xla_entry_computation_parameter_layouts", "mhlo.xla_entry_computation_parameter_tiles"),
    RESULTS: ("mhlo.xla_entry_computation_result_layout", "mhlo.xla_entry_computation_result_tiles"),
}


class ResultMirror:
    """The new shapes of main's results that are not yet in the module's frontend attribute."""

    __slots__ = ("shapes",)

    def __init__(self) -> None:
        self.shapes: list[Shape] | None = None

    def change(self, known: Sequence[Shape] | None, index: int, shape: Shape) -> None:
        """Changes the shape of one result; `known` are the module's shapes, None after the first change."""
        if self.shapes is None:
            assert known is not None  # callers look first
            self.shapes = list(known)
        self.shapes[index] = shape

    def write(self, module: ir.Operation) -> None:
        """Writes the attribute."""
        if self.shapes is not None:
            set_result_mirror(module, self.shapes)
            self.shapes = None


class Interface:
    """The signature of one `func.func`, with layouts.

    Layouts of the entry may also be on the module; the first change moves them to the arguments and results, because
    the module's lists must be complete.
    """

    __slots__ = ("_func", "_mirror", "_module", "_signature")

    def __init__(self, func: ir.Operation, module: ir.Operation, mirror: ResultMirror, signature: Signature) -> None:
        self._func = func
        self._module = module
        self._mirror = mirror
        self._signature = signature

    @property
    def is_entry(self) -> bool:
        """Is true for the public function `main`."""
        visibility = string_attribute(self._func, "sym_visibility")
        return visibility in (None, "public") and text_of(self._func, "sym_name") == ENTRY_NAME

    def argument_shape(self, index: int) -> Shape:
        """Returns an argument's shape with its layout."""
        return self._shape(ARGUMENTS, index)

    @property
    def argument_shapes(self) -> tuple[Shape, ...]:
        """Returns the shapes of all arguments."""
        return self._shapes(ARGUMENTS)

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        """Returns the shapes of all results."""
        return self._shapes(RESULTS)

    def set_argument(self, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        """Changes type and layout of an argument in the signature."""
        self._own_layouts()
        self._follow(ARGUMENTS, index, shape)
        self._signature.set_type(ARGUMENTS, index, mlir_type)
        self._annotate(ARGUMENTS, index, shape)

    def set_result(self, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        """Changes type and layout of a result in the signature."""
        self._own_layouts()
        self._follow(RESULTS, index, shape)
        if self.is_entry:
            self._mirror.change(self.result_shapes if self._mirror.shapes is None else None, index, shape)
        self._signature.set_type(RESULTS, index, mlir_type)
        self._annotate(RESULTS, index, shape)

    def set_layouts(self, arguments: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes the layouts of the interface; raises ValueError where a shape has another type."""
        self._own_layouts()
        for kind, shapes in ((ARGUMENTS, arguments), (RESULTS, results)):
            for mlir_type, shape in zip(self._signature.types(kind), shapes, strict=True):
                if shape.without_layout != shape_of_type(mlir_type):
                    raise ValueError(f"{shape} is not the type {mlir_type}")
            self._annotate_all(kind, shapes)
        if self.is_entry:
            self._mirror.shapes = list(results)

    @property
    def attributes(self) -> tuple[dict[str, ir.Attribute], ...]:
        """Returns the attributes of each argument."""
        return tuple(map(attribute_entries, self._signature.entries(ARGUMENTS)))

    def _shape(self, kind: str, index: int) -> Shape:
        natural = shape_of_type(self._signature.types(kind)[index])
        shape = _annotated_shape(self._signature.entries(kind)[index], natural)
        if shape is None and self.is_entry:
            shape = self._module_shape(kind, index)
        return natural if shape is None else shape

    def _shapes(self, kind: str) -> tuple[Shape, ...]:
        """Returns all shapes, and reads the module's annotation of the results only once."""
        natural = tuple(map(shape_of_type, self._signature.types(kind)))
        found = list(map(_annotated_shape, self._signature.entries(kind), natural))
        if not self.is_entry or None not in found:
            return tuple(shape or own for shape, own in zip(found, natural, strict=True))
        mirrored = self._mirrored(natural) if kind == RESULTS else None
        if mirrored is None:
            mirrored = tuple(self._listed_shape(kind, i) or own for i, own in enumerate(natural))
        return tuple(shape or other for shape, other in zip(found, mirrored, strict=True))

    def _mirrored(self, natural: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
        pending = self._mirror.shapes
        return result_mirror(self._module, natural) if pending is None else tuple(map(as_written, pending))

    def _module_shape(self, kind: str, index: int) -> Shape | None:
        if kind == RESULTS:
            mirrored = self._mirrored(tuple(map(shape_of_type, self._signature.types(kind))))
            if mirrored is not None:
                return mirrored[index]
        return self._listed_shape(kind, index)

    def _listed_shape(self, kind: str, index: int) -> Shape | None:
        """Returns the shape in the lists of XLA's importer, or None."""
        types = self._signature.types(kind)
        natural = shape_of_type(types[index])
        orders, tiles = (_elements(attribute_of(self._module, name)) for name in _MODULE_LAYOUTS[kind])
        if not isinstance(natural, ArrayShape) or len(orders) != len(types):
            return None
        mine = _elements(tiles[index]) if len(tiles) == len(types) else []
        layout = Layout(_integers(orders[index]), tuple(Tile(_integers(tile)) for tile in mine))
        return natural.with_layout(None if layout.is_default else layout)

    def _annotate_all(self, kind: str, shapes: Sequence[Shape]) -> None:
        for index, shape in enumerate(shapes):
            self._annotate(kind, index, shape)

    def _annotate(self, kind: str, index: int, shape: Shape) -> None:
        # HLO has no attributes of results: the mirror of main's results is on the module.
        is_mirrored = kind == ARGUMENTS
        entry = attribute_entries(self._signature.entries(kind)[index])
        annotated = annotated_interface(entry, shape, self._func.context, is_mirrored=is_mirrored)
        self._signature.set_entry(kind, index, annotated)

    def _follow(self, kind: str, index: int, shape: Shape) -> None:
        """Updates the shardings; raises DiagnosticError for one that cannot follow, before anything changes."""
        entry = attribute_entries(self._signature.entries(kind)[index])
        ranks = changed_ranks([shape_of_type(self._signature.types(kind)[index])], [shape])
        changes = dict(followed_shardings(entry, ranks))
        if changes:
            self._signature.set_entry(kind, index, {**entry, **changes})

    def _own_layouts(self) -> None:
        """Moves layouts from the module's attributes to the entry's arguments and results."""
        if self._signature.owns_layouts:
            return
        names = [name for pair in _MODULE_LAYOUTS.values() for name in pair]
        if not self.is_entry or not any(name in self._module.attributes for name in names):
            self._signature.owns_layouts = True
            return
        for kind, shapes in ((ARGUMENTS, self.argument_shapes), (RESULTS, self.result_shapes)):
            self._annotate_all(kind, shapes)
        self._mirror.shapes = list(self.result_shapes)
        for name in names:
            set_or_delete(self._module, name, None)


@lru_cache(maxsize=4096)
def _annotated_shape(entry: ir.Attribute, natural: Shape) -> Shape | None:
    """Returns the shape of an argument's or result's own attributes, or None."""
    return interface_shape(attribute_entries(entry), natural)


def _elements(attribute: ir.Attribute | None) -> list[ir.Attribute]:
    return [attribute[i] for i in range(len(attribute))] if isinstance(attribute, ir.ArrayAttr) else []


def _integers(attribute: ir.Attribute) -> tuple[int, ...]:
    return integer_list(attribute) or ()
