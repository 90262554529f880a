"""Operations of StableHLO and of other dialects in the same module."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dialect_utils.ir import Operation, Value
from dialect_utils.ir.assignments import Guarded, assign
from dialect_utils.ir.control_flow import default_roles, role_position
from dialect_utils.layout import ArrayShape, BitcastConvert, Pad, Reshape, Shape, Slice, Step, Transpose
from dialect_utils.ops import CALLING_MLIR_ATTRIBUTES, Trait, attribute_name, has, hlo_opcode
from dialect_utils.stablehlo.annotations import (
    MIRROR,
    SHARDINGS,
    annotate_operation,
    changed_ranks,
    followed_shardings,
    frontend_entries,
    operation_shape,
    set_frontend_entry,
    text_of,
)
from dialect_utils.stablehlo.bindings import (
    attribute_of,
    dimension_numbers,
    integer_list,
    ir,
    is_known_dialect,
    is_known_operation,
    string_value,
    with_dimension_numbers,
    with_integers,
)
from dialect_utils.stablehlo.constants import constant_text, literal_bits, splat_literal
from dialect_utils.stablehlo.function import StableHloValue, as_value
from dialect_utils.stablehlo.origins import NOWHERE, SYMBOL, Origin, blocks_of, location_of, origin_of, walk
from dialect_utils.stablehlo.types import set_type, shape_of_type
from dialect_utils.text import DiagnosticError, Location

if TYPE_CHECKING:
    from dialect_utils.stablehlo.function import StableHloFunction
    from dialect_utils.stablehlo.module import StableHloModule


class StableHloOperation(Guarded, Operation):
    """One operation, with one object for each; every use after `erase` raises ValueError."""

    __slots__ = ("_mlir", "_results", "_step", "module", "origin")

    def __init__(self, module: StableHloModule, mlir: ir.Operation) -> None:
        self.module = module
        self._mlir: ir.Operation | None = mlir
        self._results: tuple[StableHloValue, ...] | None = None
        # The step, with the types of operand and result for which it was read; None after an edit of an attribute.
        self._step: tuple[tuple[ir.Type, ir.Type], Step | None] | None = None
        self.origin: Origin | None = None

    def __repr__(self) -> str:
        return f"<operation {self.opcode}>"

    @property
    def mlir(self) -> ir.Operation:
        """Returns the MLIR operation; raises ValueError where it was erased."""
        if self._mlir is None:
            raise ValueError("the operation was erased")
        return self._mlir

    def require_alive(self) -> None:
        """Raises ValueError where the operation was erased."""
        _ = self.mlir

    def forget(self) -> None:
        """Marks the operation as erased."""
        self._mlir = None

    @property
    def opcode(self) -> str:
        return hlo_opcode(self.mlir.name)

    @property
    def is_unknown(self) -> bool:
        return not is_known_operation(self.mlir.name)

    @property
    def operands(self) -> Sequence[StableHloValue]:
        return tuple(map(self.module.value, self.mlir.operands))

    def set_operand(self, index: int, value: Value) -> None:
        self.mlir.operands[index] = as_value(value).mlir

    @property
    def captured(self) -> Sequence[StableHloValue]:
        blocks = blocks_of(self.mlir)
        if not blocks:
            return ()
        inner = [each for each in walk(self.mlir) if each != self.mlir]
        defined: set[ir.Value[Any]] = {result for each in inner for result in each.results}
        for block in (block for each in (self.mlir, *inner) for block in blocks_of(each)):
            defined.update(block.arguments)
        used = dict.fromkeys(operand for each in inner for operand in each.operands)
        return tuple(self.module.value(operand) for operand in used if operand not in defined)

    @property
    def results(self) -> Sequence[StableHloValue]:
        if self._results is None:
            self._results = tuple(StableHloValue(self, result, i) for i, result in enumerate(self.mlir.results))
        return self._results

    @property
    def called(self) -> Sequence[StableHloFunction]:
        """Returns the functions it calls by name, then the blocks of its regions."""
        return (*map(self.module.function_named, self.symbols), *map(self.module.function, blocks_of(self.mlir)))

    @property
    def roles(self) -> Sequence[str]:
        return default_roles(self.opcode, len(self.called))

    def called_as(self, role: str) -> StableHloFunction:
        return self.called[role_position(self, role)]

    @property
    def symbols(self) -> Sequence[str]:
        """Returns the names of the functions it calls; an unknown operation may call all that it names."""
        attributes = self.mlir.attributes
        names: list[str] = []
        if self.is_unknown:
            texts = map(str, filter(None, (attribute_of(self.mlir, name) for name in attributes)))
            names = [plain or quoted for text in texts for plain, quoted in SYMBOL.findall(text)]
        calling = () if names else CALLING_MLIR_ATTRIBUTES
        for found in (attributes[name] for name in calling if name in attributes):
            listed = list(found) if isinstance(found, ir.ArrayAttr) else [found]
            names.extend(symbol.value for symbol in listed if isinstance(symbol, ir.FlatSymbolRefAttr))
        return tuple(name for name in names if self.module.has_function(name))

    @property
    def function(self) -> StableHloFunction:
        return self.module.function(self.mlir.block)

    @property
    def step(self) -> Step | None:
        if not has(self.opcode, Trait.IS_STEP):
            return None
        types = self.mlir.operands[0].type, self.mlir.results[0].type
        if self._step is None or self._step[0] != types:
            self._step = types, self._read_step()
        return self._step[1]

    def _read_step(self) -> Step | None:
        operand, result = self.operands[0].shape, self.results[0].shape
        if not isinstance(operand, ArrayShape) or not isinstance(result, ArrayShape):
            return None
        return self._static_step(result) if operand.is_static and result.is_static else None

    def _static_step(self, result: ArrayShape) -> Step:
        # Each step of data movement has attributes of its own.
        match self.opcode:
            case "reshape":
                return Reshape(result.dimensions)
            case "bitcast-convert":
                return BitcastConvert(result.element_type)
            case "transpose":
                return Transpose(self.ints("dimensions") or ())
            case "slice":
                bounds = (self.ints(name) or () for name in ("start_indices", "limit_indices", "strides"))
                return Slice(*bounds)
        amounts = (self.ints(name) or () for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
        return Pad(*amounts)

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns a list of integers by HLO's name (a single integer as a list of one), or None."""
        if name == "dimensions" and self.mlir.name.endswith(".broadcast"):
            operand, result = self.operands[0].shape, self.results[0].shape
            if not isinstance(operand, ArrayShape) or not isinstance(result, ArrayShape):
                return None
            return tuple(range(result.rank - operand.rank, result.rank))
        name, _, field = attribute_name(self.mlir.name, name).partition(".")
        found = attribute_of(self.mlir, name) if name != "value" else None
        if found is None:
            return None
        if field:
            return dimension_numbers(name, found, field)
        return integer_list(found)

    def set_ints(self, name: str, values: Sequence[int]) -> None:
        """Changes an attribute of integers, or a field of a structured one; raises ValueError where it is absent."""
        whole, _, field = attribute_name(self.mlir.name, name).partition(".")
        found, made = attribute_of(self.mlir, whole), None
        if found is not None:
            made = with_dimension_numbers(whole, found, field, values) if field else with_integers(found, values)
        if made is None:
            raise ValueError(f"{self.mlir.name} has no integers {name}")
        self.mlir.attributes[whole] = made
        self._step = None

    def attribute(self, name: str) -> str | None:
        """Returns an attribute as MLIR prints it, strings without quotes; None where it is absent."""
        if self.opcode == "constant" and name == "value":
            return constant_text(self.mlir)
        found = attribute_of(self.mlir, name)
        if found is None:
            return None
        return string_value(found) if isinstance(found, ir.StringAttr) else str(found)

    def string(self, name: str) -> bytes | None:
        """Returns the bytes of a string, or None for another attribute."""
        found = attribute_of(self.mlir, name)
        return found.value_bytes if isinstance(found, ir.StringAttr) else None

    def definition(self, symbol: str) -> str | None:
        """Returns the text of the module's operation with a symbol, or None without one."""
        names = ((each, text_of(each.operation, "sym_name")) for each in blocks_of(self.module.root)[0].operations)
        return next((str(each) for each, name in names if name == symbol), None)

    @property
    def attribute_names(self) -> Sequence[str]:
        """Returns the names of all attributes, by StableHLO's names, without notes of unknown dialects."""
        names = tuple(self.mlir.attributes)
        return names if self.is_unknown else tuple(each for each in names if not _is_note(each))

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes, adds or (for None) drops an attribute; text that MLIR cannot parse becomes a string."""
        self._step = None
        if text is None:
            if name in self.mlir.attributes:
                del self.mlir.attributes[name]
            return
        context = self.mlir.context
        try:
            made = ir.Attribute.parse(text, context=context)
        except (ir.MLIRError, ValueError):
            made = ir.StringAttr.get(text, context=context)
        self.mlir.attributes[name] = made

    def rename(self, name: str) -> None:
        """Gives the operation a name, which only debug locations show."""
        location, origin = self.mlir.location, self.place
        if isinstance(location, ir.NameLoc):
            location = location.child_loc
        self.mlir.location = ir.Location.name(name, location, self.mlir.context)
        assign(self, "origin", replace(origin, name=name) if origin else Origin(NOWHERE, NOWHERE, name))

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns all attributes as MLIR prints them, by StableHLO's names, and the numbers of blocks that follow."""
        found = ((name, self.attribute(name)) for name in self.attribute_names)
        # The print of the operation shows attributes without a Python form.
        whole = functools.partial(self.mlir.get_asm, print_generic_op_form=True, use_local_scope=True)
        texts = {name: str(whole()) if text is None else text for name, text in found}
        if len(self.mlir.successors):
            blocks = list(self.mlir.block.region.blocks)
            texts["successors"] = str([blocks.index(each) for each in self.mlir.successors])
        return MappingProxyType(texts)

    @property
    def frontend_attributes(self) -> Mapping[str, str]:
        entries = frontend_entries(self.mlir)
        return MappingProxyType({name: text for name, text in entries.items() if name != MIRROR})

    def set_frontend_attribute(self, name: str, value: str | None) -> None:
        if name == MIRROR:
            raise ValueError(f"{MIRROR} mirrors the layout; set_shape changes it")
        set_frontend_entry(self.mlir, name, value)

    @property
    def splat_bits(self) -> int | None:
        shape = self.results[0].shape if self.opcode == "constant" else None
        if not isinstance(shape, ArrayShape):
            return None
        text = splat_literal(self.mlir)
        return None if text is None else literal_bits(shape.element_type, text)

    @property
    def callee(self) -> str | None:
        if self.opcode != "custom-call":
            return None
        return text_of(self.mlir, "call_target_name")

    def erase(self) -> None:
        for result in self.results:
            if next(iter(result.mlir.uses), None) is not None:
                raise ValueError(f"%{result.name} is still used")
        mlir = self.mlir
        self.module.forget(walk(mlir))
        self.forget()
        mlir.erase()

    @property
    def location(self) -> Location | None:
        return location_of(self.module.source, self.place)

    @property
    def place(self) -> Origin | None:
        """Returns the line and column in the original text, or None."""
        return self.origin or origin_of(self.mlir.location)

    def value_shape(self, index: int) -> Shape:
        """Returns a result's shape with its layout."""
        try:
            return operation_shape(self.mlir, index)
        except DiagnosticError as error:
            raise self.module.placed(error, self.location) from None

    def set_value_shape(self, index: int, shape: Shape) -> None:
        """Changes a result's type and the annotation."""
        shapes = [value.shape for value in self.results]
        shapes[index] = shape
        set_result_shapes(self.mlir, shapes)


def _is_note(name: str) -> bool:
    """Is true for an attribute that a dialect unknown to jaxlib adds to an operation of another dialect."""
    dialect, dot, _ = name.partition(".")
    return bool(dot) and not is_known_dialect(dialect)


def set_result_shapes(operation: ir.Operation, shapes: Sequence[Shape]) -> None:
    """Changes the types of an operation's results, the shardings that follow, and the annotation.

    Raises DiagnosticError for a sharding that cannot follow.
    """
    ranks = changed_ranks([shape_of_type(result.type) for result in operation.results], shapes)
    attributes = {name: found for name in SHARDINGS if (found := attribute_of(operation, name)) is not None}
    for name, sharding in followed_shardings(attributes, ranks):
        operation.attributes[name] = sharding
    for result, shape in zip(operation.results, shapes, strict=True):
        set_type(result, shape)
    annotate_operation(operation, shapes)


def as_operation(operation: object) -> StableHloOperation:
    """Returns an operation as this package's class; raises TypeError for an operation of another dialect."""
    if not isinstance(operation, StableHloOperation):
        raise TypeError(f"expected a StableHLO operation, found {type(operation).__name__}")
    return operation
