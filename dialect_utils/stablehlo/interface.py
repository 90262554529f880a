"""The signature of a function: types, layouts and attributes of its arguments and results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from dialect_utils.layout import ArrayShape, Layout, Shape, Tile
from dialect_utils.stablehlo.annotations import (
    RESULT_MIRROR,
    annotated_interface,
    as_written,
    attribute_entries,
    changed_ranks,
    followed_shardings,
    interface_shape,
    layout_mode,
    mode_shape,
    result_mirror,
    set_frontend_entry,
    set_or_delete,
    set_result_mirror,
    sharding_text,
    string_attribute,
    with_layout_mode,
    with_sharding,
)
from dialect_utils.stablehlo.bindings import attribute_of, integer_list, ir
from dialect_utils.stablehlo.types import shape_of_type, type_of_shape

ENTRY_NAME = "main"
ARGUMENTS, RESULTS = "arg_attrs", "res_attrs"
_TYPE, _DONOR = "function_type", "jax.buffer_donor"
# XLA's importer writes these for the whole entry: minor_to_major and tiles of each array.
_MODULE_LAYOUTS = {
    ARGUMENTS: ("mhlo.xla_entry_computation_parameter_layouts", "mhlo.xla_entry_computation_parameter_tiles"),
    RESULTS: ("mhlo.xla_entry_computation_result_layout", "mhlo.xla_entry_computation_result_tiles"),
}


def is_public(func: ir.Operation) -> bool:
    """Is true for a function that other modules may call."""
    return string_attribute(func, "sym_visibility") in (None, "public")


def disown(module: ir.Operation) -> None:
    """Removes the attributes of a module that hold layouts of its entry."""
    for name in (name for pair in _MODULE_LAYOUTS.values() for name in pair):
        set_or_delete(module, name, None)
    set_frontend_entry(module, RESULT_MIRROR, None)


class Interface:
    """The signature of one `func.func` as an edit list, with layouts; one object for each in a module.

    MLIR keeps the types, and the attributes of all arguments, as one attribute that is replaced as a whole: writing it
    after every change would take time quadratic in their number. `write` writes the changes when the module is used.
    Layouts of the entry may also be on the module; the first change moves them to the arguments and results, because
    the module's lists must be complete.
    """

    __slots__ = ("_changed", "_entries", "_func", "_mirrored_results", "_module", "_owns_layouts", "_types", "is_entry")

    def __init__(self, func: ir.Operation, module: ir.Operation, *, is_entry: bool) -> None:
        self.is_entry = is_entry
        self._func = func
        self._module = module
        self._types: dict[str, list[ir.Type]] | None = None
        self._entries: dict[str, list[ir.Attribute]] = {}
        # The attributes that are not written yet.
        self._changed: set[str] = set()
        # The shapes of main's results that are not yet in the module's frontend attribute.
        self._mirrored_results: list[Shape] | None = None
        # True once the module's attributes hold no more layouts.
        self._owns_layouts = False

    @property
    def argument_shapes(self) -> tuple[Shape, ...]:
        """Returns the shapes of all arguments."""
        return self._shapes(ARGUMENTS)

    @property
    def result_shapes(self) -> tuple[Shape, ...]:
        """Returns the shapes of all results."""
        return self._shapes(RESULTS)

    @property
    def shardings(self) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
        """Returns the texts of the shardings of all arguments, and of all results."""
        arguments, results = (
            tuple(sharding_text(attribute_entries(each)) for each in self._attributes(place))
            for place in (ARGUMENTS, RESULTS)
        )
        return arguments, results

    @property
    def attributes(self) -> tuple[dict[str, ir.Attribute], ...]:
        """Returns the attributes of each argument."""
        return tuple(map(attribute_entries, self._attributes(ARGUMENTS)))

    def argument_shape(self, index: int) -> Shape:
        """Returns an argument's shape with its layout."""
        natural = shape_of_type(self._types_of(ARGUMENTS)[index])
        shape = _annotated_shape(self._attributes(ARGUMENTS)[index], natural)
        if shape is None and self.is_entry:
            shape = self._listed_shape(ARGUMENTS, index)
        return natural if shape is None else shape

    def set_argument(self, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        """Changes type and layout of an argument in the signature."""
        self._own_layouts()
        self._change(ARGUMENTS, index, shape, mlir_type)

    def drop_argument(self, index: int) -> None:
        """Removes an argument from the signature."""
        self._own_layouts()
        entries, types = self._attributes(ARGUMENTS), self._types_of(ARGUMENTS)
        del entries[index], types[index]
        self._changed |= {_TYPE, ARGUMENTS}

    def set_arguments(self, order: Sequence[int | Shape]) -> list[ir.Type]:
        """Gives the signature its own arguments in another order, and new ones of shapes; returns all types."""
        self._own_layouts()
        types, entries, context = self._types_of(ARGUMENTS), self._attributes(ARGUMENTS), self._func.context
        made = [types[each] if isinstance(each, int) else type_of_shape(each, context) for each in order]
        nothing = ir.DictAttr.get({}, context)
        self._entries[ARGUMENTS] = [entries[each] if isinstance(each, int) else nothing for each in order]
        types[:] = made
        self._changed |= {_TYPE, ARGUMENTS}
        return made

    def set_result(self, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        """Changes type and layout of a result in the signature."""
        self._own_layouts()
        known = self.result_shapes if self.is_entry and self._mirrored_results is None else ()
        self._change(RESULTS, index, shape, mlir_type)
        if self.is_entry:
            self._mirrored_results = self._mirrored_results or list(known)
            self._mirrored_results[index] = shape

    def _change(self, kind: str, index: int, shape: Shape, mlir_type: ir.Type) -> None:
        types, entry = self._types_of(kind), attribute_entries(self._attributes(kind)[index])
        # Raises for a sharding that cannot follow, before anything changes.
        shardings = dict(followed_shardings(entry, changed_ranks([shape_of_type(types[index])], [shape])))
        if types[index] != mlir_type:
            types[index] = mlir_type
            self._changed.add(_TYPE)
        self._annotate(kind, index, shape, {**entry, **shardings})

    def set_layouts(self, arguments: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes the layouts of the interface; raises ValueError where a shape has another type."""
        self._own_layouts()
        for kind, shapes in ((ARGUMENTS, arguments), (RESULTS, results)):
            for mlir_type, shape in zip(self._types_of(kind), shapes, strict=True):
                if shape.without_layout != shape_of_type(mlir_type):
                    raise ValueError(f"{shape} is not the type {mlir_type}")
            self._annotate_all(kind, shapes)
        if self.is_entry:
            self._mirrored_results = list(results)

    @property
    def layout_modes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the layout modes of the arguments and of the results: `default`, `auto`, or a layout."""
        self._own_layouts()
        arguments, results = (
            tuple(layout_mode(attribute_entries(each)) for each in self._attributes(kind))
            for kind in (ARGUMENTS, RESULTS)
        )
        return arguments, results

    def set_layout_modes(self, arguments: Sequence[str], results: Sequence[str]) -> None:
        """Writes the layout modes of the arguments and results."""
        modes = {ARGUMENTS: arguments, RESULTS: results}
        shapes = {
            kind: list(map(mode_shape, map(shape_of_type, self._types_of(kind)), listed))
            for kind, listed in modes.items()
        }
        self.set_layouts(shapes[ARGUMENTS], shapes[RESULTS])
        for kind, listed in modes.items():
            entries = self._attributes(kind)
            for index, mode in enumerate(listed):
                entry = with_layout_mode(attribute_entries(entries[index]), mode, self._func.context)
                entries[index] = ir.DictAttr.get(entry, self._func.context)

    def set_sharding(self, kind: str, index: int, axes: Sequence[Sequence[str]] | None, text: str) -> bool:
        """Changes the sharding of an `argument` or a `result`; returns whether it could."""
        kind = ARGUMENTS if kind == "argument" else RESULTS
        entries = self._attributes(kind)
        if (changed := with_sharding(attribute_entries(entries[index]), axes, text)) is None:
            return False
        entries[index] = ir.DictAttr.get(changed, self._func.context)
        self._changed.add(kind)
        return True

    def donate(self, arguments: Iterable[int]) -> None:
        """Marks arguments whose memory the caller gives away, as JAX does."""
        entries, context = self._attributes(ARGUMENTS), self._func.context
        for index in arguments:
            entry = {**attribute_entries(entries[index]), _DONOR: ir.BoolAttr.get(True, context)}
            entries[index] = ir.DictAttr.get(entry, context)
            self._changed.add(ARGUMENTS)

    def write(self) -> None:
        """Writes the changes into MLIR's attributes."""
        if self._mirrored_results is not None:
            set_result_mirror(self._module, self._mirrored_results)
            self._mirrored_results = None
        context = self._func.context
        if _TYPE in self._changed:
            made = ir.FunctionType.get(self._types_of(ARGUMENTS), self._types_of(RESULTS), context)
            self._func.attributes[_TYPE] = ir.TypeAttr.get(made, context)
        nothing = ir.DictAttr.get({}, context)
        for kind in self._changed & {ARGUMENTS, RESULTS}:
            entries = self._entries[kind]
            is_empty = all(entry == nothing for entry in entries)
            set_or_delete(self._func, kind, None if is_empty else ir.ArrayAttr.get(entries, context))
        self._changed.clear()

    def _types_of(self, kind: str) -> list[ir.Type]:
        if self._types is None:
            found = ir.FunctionType(ir.TypeAttr(self._func.attributes[_TYPE]).value)
            self._types = {ARGUMENTS: list(found.inputs), RESULTS: list(found.results)}
        return self._types[kind]

    def _attributes(self, kind: str) -> list[ir.Attribute]:
        """Returns the dictionary attribute, possibly empty, of each argument or result."""
        if kind not in self._entries:
            attributes = self._func.attributes
            if kind in attributes:
                self._entries[kind] = list(ir.ArrayAttr(attributes[kind]))
            else:
                self._entries[kind] = [ir.DictAttr.get({}, self._func.context)] * len(self._types_of(kind))
        return self._entries[kind]

    def _shapes(self, kind: str) -> tuple[Shape, ...]:
        """Returns all shapes, and reads the module's annotation of the results only once."""
        natural = tuple(map(shape_of_type, self._types_of(kind)))
        found = list(map(_annotated_shape, self._attributes(kind), natural))
        if not self.is_entry or None not in found:
            return tuple(shape or own for shape, own in zip(found, natural, strict=True))
        mirrored = self._mirrored(natural) if kind == RESULTS else None
        if mirrored is None:
            mirrored = tuple(self._listed_shape(kind, i) or own for i, own in enumerate(natural))
        return tuple(shape or other for shape, other in zip(found, mirrored, strict=True))

    def _mirrored(self, natural: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
        pending = self._mirrored_results
        return result_mirror(self._module, natural) if pending is None else tuple(map(as_written, pending))

    def _listed_shape(self, kind: str, index: int) -> Shape | None:
        """Returns the shape in the lists of XLA's importer, or None."""
        types = self._types_of(kind)
        natural = shape_of_type(types[index])
        orders, tiles = (_elements(attribute_of(self._module, name)) for name in _MODULE_LAYOUTS[kind])
        if not isinstance(natural, ArrayShape) or len(orders) != len(types):
            return None
        mine = _elements(tiles[index]) if len(tiles) == len(types) else []
        order, *tiled = (integer_list(each) or () for each in (orders[index], *mine))
        layout = Layout(order, tuple(map(Tile, tiled)))
        return natural.with_layout(None if layout.is_default else layout)

    def _annotate_all(self, kind: str, shapes: Sequence[Shape]) -> None:
        for index, shape in enumerate(shapes):
            self._annotate(kind, index, shape, attribute_entries(self._attributes(kind)[index]))

    def _annotate(self, kind: str, index: int, shape: Shape, entry: dict[str, ir.Attribute]) -> None:
        # HLO has no attributes of results: the mirror of main's results is on the module.
        annotated = annotated_interface(entry, shape, self._func.context, is_mirrored=kind == ARGUMENTS)
        self._attributes(kind)[index] = ir.DictAttr.get(annotated, self._func.context)
        self._changed.add(kind)

    def _own_layouts(self) -> None:
        """Moves layouts from the module's attributes to the entry's arguments and results."""
        if self._owns_layouts:
            return
        names = [name for pair in _MODULE_LAYOUTS.values() for name in pair]
        if not self.is_entry or not any(name in self._module.attributes for name in names):
            self._owns_layouts = True
            return
        for kind, shapes in ((ARGUMENTS, self.argument_shapes), (RESULTS, self.result_shapes)):
            self._annotate_all(kind, shapes)
        self._mirrored_results = list(self.result_shapes)
        for name in names:
            set_or_delete(self._module, name, None)


@lru_cache(maxsize=4096)
def _annotated_shape(entry: ir.Attribute, natural: Shape) -> Shape | None:
    """Returns the shape of an argument's or result's own attributes, or None."""
    return interface_shape(attribute_entries(entry), natural)


def _elements(attribute: ir.Attribute | None) -> list[ir.Attribute]:
    return [attribute[i] for i in range(len(attribute))] if isinstance(attribute, ir.ArrayAttr) else []
