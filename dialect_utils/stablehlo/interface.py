"""Shapes of a function's arguments and results, and the signature that follows them."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.layout import ArrayShape, Layout, Shape, Tile
from dialect_utils.stablehlo.annotations import (
    annotated_interface,
    attribute_entries,
    interface_shape,
    result_mirror,
    set_or_delete,
    set_result_mirror,
    string_attribute,
    text_of,
    without_layouts,
)
from dialect_utils.stablehlo.bindings import attribute_of, integer_list, ir
from dialect_utils.stablehlo.sharding import changed_ranks, followed_shardings
from dialect_utils.stablehlo.types import shape_of_type

ENTRY_NAME = "main"
_ARGUMENTS, _RESULTS = "arg_attrs", "res_attrs"
# What XLA's importer writes for the whole entry: minor_to_major and tiles of each array.
_MODULE_LAYOUTS = {
    _ARGUMENTS: ("mhlo.xla_entry_computation_parameter_layouts", "mhlo.xla_entry_computation_parameter_tiles"),
    _RESULTS: ("mhlo.xla_entry_computation_result_layout", "mhlo.xla_entry_computation_result_tiles"),
}


class Interface:
    """Reads and writes the signature of one `func.func`.

    Layouts of the entry may also stand on the module; the first change moves them to the
    arguments and results, since the module's lists cannot be changed one by one.
    """

    __slots__ = ("_func", "_module")

    def __init__(self, func: ir.Operation, module: ir.Operation) -> None:
        self._func = func
        self._module = module

    @property
    def is_entry(self) -> bool:
        """Is true for the public function `main`."""
        visibility = string_attribute(self._func, "sym_visibility")
        return visibility in (None, "public") and text_of(self._func, "sym_name") == ENTRY_NAME

    def argument_shape(self, index: int) -> Shape:
        """Returns an argument's shape with its layout."""
        return self._shape(_ARGUMENTS, self._types.inputs, index)

    def result_shape(self, index: int) -> Shape:
        """Returns a result's shape with the layout callers see."""
        return self._shape(_RESULTS, self._types.results, index)

    @property
    def argument_shapes(self) -> tuple[Shape, ...]:
        """Returns the shapes of all arguments."""
        return tuple(map(self.argument_shape, range(len(self._types.inputs))))

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        """Returns the shapes of all results."""
        return tuple(map(self.result_shape, range(len(self._types.results))))

    def set_argument(self, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        """Changes type and layout of an argument in the signature."""
        self._own_layouts()
        self._follow(_ARGUMENTS, index, shape)
        types = self._types
        inputs = [*types.inputs]
        inputs[index] = mlir_type
        self._set_types(inputs, types.results)
        self._annotate(_ARGUMENTS, index, shape, len(inputs))

    def set_result(self, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        """Changes type and layout of a result in the signature."""
        self._own_layouts()
        self._follow(_RESULTS, index, shape)
        shapes = [*self.result_shapes]
        shapes[index] = shape
        types = self._types
        results = [*types.results]
        results[index] = mlir_type
        self._set_types(types.inputs, results)
        self._annotate(_RESULTS, index, shape, len(results))
        if self.is_entry:
            set_result_mirror(self._module, shapes)

    def set_layouts(self, arguments: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes the layouts callers see; raises ValueError where a shape has another type."""
        self._own_layouts()
        types = self._types
        for kind, known, shapes in ((_ARGUMENTS, types.inputs, arguments), (_RESULTS, types.results, results)):
            for index, (mlir_type, shape) in enumerate(zip(known, shapes, strict=True)):
                if without_layouts(shape) != shape_of_type(mlir_type):
                    raise ValueError(f"{shape} is not the type {mlir_type}")
                self._annotate(kind, index, shape, len(known))
        if self.is_entry:
            set_result_mirror(self._module, results)

    @property
    def attributes(self) -> tuple[dict[str, ir.Attribute], ...]:
        """Returns the attributes of each argument."""
        return tuple(self._entries(_ARGUMENTS, i) for i in range(len(self._types.inputs)))

    @property
    def _types(self) -> ir.FunctionType:
        return ir.FunctionType(ir.TypeAttr(self._func.attributes["function_type"]).value)

    def _set_types(self, inputs: Sequence[ir.Type], results: Sequence[ir.Type]) -> None:
        made = ir.FunctionType.get(list(inputs), list(results), self._func.context)
        self._func.attributes["function_type"] = ir.TypeAttr.get(made, self._func.context)

    def _entries(self, kind: str, index: int) -> dict[str, ir.Attribute]:
        attributes = self._func.attributes
        return attribute_entries(ir.ArrayAttr(attributes[kind])[index]) if kind in attributes else {}

    def _shape(self, kind: str, types: Sequence[ir.Type], index: int) -> Shape:
        natural = shape_of_type(types[index])
        shape = interface_shape(self._entries(kind, index), natural)
        if shape is None and self.is_entry:
            shape = self._module_shape(kind, types, index)
        return natural if shape is None else shape

    def _module_shape(self, kind: str, types: Sequence[ir.Type], index: int) -> Shape | None:
        if kind == _RESULTS:
            mirrored = result_mirror(self._module, tuple(map(shape_of_type, types)))
            if mirrored is not None:
                return mirrored[index]
        natural = shape_of_type(types[index])
        orders, tiles = (_elements(attribute_of(self._module, name)) for name in _MODULE_LAYOUTS[kind])
        if not isinstance(natural, ArrayShape) or len(orders) != len(types):
            return None
        mine = _elements(tiles[index]) if len(tiles) == len(types) else []
        layout = Layout(_integers(orders[index]), tuple(Tile(_integers(tile)) for tile in mine))
        return natural.with_layout(None if layout.is_default else layout)

    def _annotate(self, kind: str, index: int, shape: Shape, count: int) -> None:
        # A result has no mirror of its own: HLO has no place for it. Main's have one on the module.
        is_mirrored = kind == _ARGUMENTS
        entry = self._entries(kind, index)
        annotated = annotated_interface(entry, shape, self._func.context, is_mirrored=is_mirrored)
        self._set_entry(kind, index, annotated, count)

    def _follow(self, kind: str, index: int, shape: Shape) -> None:
        """Makes the shardings follow; raises DiagnosticError for one that cannot, before anything changes."""
        types = self._types.inputs if kind == _ARGUMENTS else self._types.results
        ranks = changed_ranks([shape_of_type(types[index])], [shape])
        entry = self._entries(kind, index)
        changes = dict(followed_shardings(entry, ranks))
        if changes:
            self._set_entry(kind, index, {**entry, **changes}, len(types))

    def _set_entry(self, kind: str, index: int, entry: dict[str, ir.Attribute], count: int) -> None:
        context = self._func.context
        entries = [self._entries(kind, i) for i in range(count)]
        entries[index] = entry
        made = [ir.DictAttr.get(entry, context) for entry in entries]
        set_or_delete(self._func, kind, ir.ArrayAttr.get(made, context) if any(entries) else None)

    def _own_layouts(self) -> None:
        """Moves layouts from the module's attributes to the entry's arguments and results."""
        names = [name for pair in _MODULE_LAYOUTS.values() for name in pair]
        if not self.is_entry or not any(name in self._module.attributes for name in names):
            return
        for kind, shapes in ((_ARGUMENTS, self.argument_shapes), (_RESULTS, self.result_shapes)):
            for index, shape in enumerate(shapes):
                self._annotate(kind, index, shape, len(shapes))
        set_result_mirror(self._module, self.result_shapes)
        for name in names:
            set_or_delete(self._module, name, None)


def _elements(attribute: ir.Attribute | None) -> list[ir.Attribute]:
    return [attribute[i] for i in range(len(attribute))] if isinstance(attribute, ir.ArrayAttr) else []


def _integers(attribute: ir.Attribute) -> tuple[int, ...]:
    return integer_list(attribute) or ()
