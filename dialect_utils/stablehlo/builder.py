"""Makes operations at an insertion point of a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dialect_utils.ir import Builder, NewScalar, Operation, Padding, Value
from dialect_utils.ir.assignments import assign
from dialect_utils.layout import ArrayShape, ElementType, Pad, Shape, Slice, Step, Transpose, TupleShape
from dialect_utils.stablehlo.annotations import annotate_operation
from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.constants import literal
from dialect_utils.stablehlo.function import StableHloValue, as_value
from dialect_utils.stablehlo.operation import StableHloOperation, as_operation, set_result_shapes
from dialect_utils.stablehlo.origins import NOWHERE, Origin
from dialect_utils.stablehlo.types import type_of_shape, type_text

if TYPE_CHECKING:
    from dialect_utils.layout.moves.plan import Plan
    from dialect_utils.stablehlo.module import StableHloModule


class StableHloBuilder(Builder):
    """A maker of operations at an insertion point, in order.

    New operations get the location of `like`, under their own name, but not its frontend attributes, which describe
    that operation only.
    """

    __slots__ = ("_module", "_point")

    def __init__(self, module: StableHloModule, point: ir.InsertionPoint) -> None:
        self._module = module
        self._point = point

    def apply_plan(
        self, plan: Plan, value: Value, names: Sequence[str], *, like: Value, paddings: Sequence[Padding]
    ) -> Sequence[StableHloValue]:
        """Makes the operations of a plan.

        Raises ValueError for a plan of other dimensions, for dynamic dimensions, and for a pad without padding.
        """
        shape, made = value.shape, list[StableHloValue]()
        for step, name, padding in zip(plan.steps, names, paddings, strict=True):
            if not isinstance(shape, ArrayShape) or not shape.is_static:
                raise ValueError(f"{step} needs an array of fixed dimensions, found {shape}")
            operands: list[Value] = [*made[-1:]] or [value]
            if isinstance(padding, NewScalar):
                operands.append(self.constant(shape.element_type, padding.bits, name=padding.name, like=like))
            elif padding is not None:
                operands.append(padding)
            elif step.adds_elements:
                raise ValueError(f"{step} needs a padding value")
            shape = ArrayShape(*step.result(*shape.type_and_dimensions))
            opcode = f"stablehlo.{step.opcode.replace('-', '_')}"
            made.append(self._create(opcode, operands, shape, _attributes(step), name=name, like=like))
        return made

    def constant(self, element_type: ElementType, bits: int, *, name: str, like: Value) -> StableHloValue:
        text = type_text(ArrayShape(element_type, ()))
        # Parsed from text: a complex constant has no Python form.
        source = f'"stablehlo.constant"() {{value = dense<{literal(element_type, bits)}> : {text}}} : () -> {text}'
        made = ir.Operation.parse(source, context=self._context).operation
        self._point.insert(made)
        return self._adopt(made, name, as_value(like))[0]

    def broadcast(self, value: Value, dimensions: Sequence[int], *, name: str, like: Value) -> StableHloValue:
        shape = value.shape
        if not isinstance(shape, ArrayShape) or shape.rank != 0:
            raise ValueError(f"only a scalar is broadcast, found {shape}")
        result = ArrayShape(shape.element_type, tuple(dimensions))
        attributes: dict[str, Sequence[int]] = {"broadcast_dimensions": ()}
        return self._create("stablehlo.broadcast_in_dim", [value], result, attributes, name=name, like=like)

    def concatenate(
        self, values: Sequence[Value], dimension: int, shape: Shape, *, name: str, like: Value
    ) -> StableHloValue:
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, self._context), dimension)
        return self._create("stablehlo.concatenate", values, shape, {"dimension": number}, name=name, like=like)

    def convert(self, value: Value, element_type: ElementType, *, name: str, like: Value) -> StableHloValue:
        shape = value.shape
        if not isinstance(shape, ArrayShape):
            raise ValueError(f"only arrays convert, found {shape}")
        result = ArrayShape(element_type, shape.dimensions, None, shape.dynamic)
        return self._create("stablehlo.convert", [value], result, {}, name=name, like=like)

    def copy(self, value: Value, shape: Shape, *, name: str, like: Value) -> StableHloValue:
        """Raises ValueError: StableHLO has no copy operation."""
        raise ValueError("StableHLO has no copy operation")

    def bitcast(self, value: Value, shape: Shape, *, name: str, like: Value) -> StableHloValue:
        """Raises ValueError: StableHLO has no bitcast operation."""
        raise ValueError("StableHLO has no bitcast operation")

    def element(self, value: Value, index: int, *, name: str) -> StableHloValue:
        attributes = {"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32, self._context), index)}
        shape = value.shape.parts[index]
        return self._create("stablehlo.get_tuple_element", [value], shape, attributes, name=name, like=value)

    def make_tuple(self, leaves: Sequence[Value], shape: Shape, *, name: str, like: Value) -> StableHloValue:
        remaining = iter(leaves)

        def build(part: Shape) -> StableHloValue:
            if not isinstance(part, TupleShape):
                return as_value(next(remaining))
            elements = [build(element) for element in part.elements]
            packed = TupleShape(tuple(element.shape for element in elements))
            return self._create("stablehlo.tuple", elements, packed, {}, name=name, like=like)

        return build(shape)

    def clone(
        self, operation: Operation, operands: Sequence[Value], shapes: Sequence[Shape], *, name: str
    ) -> Sequence[StableHloValue]:
        """Makes a copy, with its regions and attributes, on other operands and with other result shapes.

        An operation without regions may get another number of operands.
        """
        original = as_operation(operation).mlir
        if len(operands) != len(original.operands):
            return self._with_operands(as_operation(operation), operands, shapes, name)
        made = original.clone(ip=self._point).operation
        for index, operand in enumerate(operands):
            made.operands[index] = as_value(operand).mlir
        set_result_shapes(made, shapes)
        return self._adopt(made, name, as_operation(operation))

    def _with_operands(
        self, original: StableHloOperation, operands: Sequence[Value], shapes: Sequence[Shape], name: str
    ) -> Sequence[StableHloValue]:
        mlir = original.mlir
        if len(mlir.regions):
            raise ValueError(f"{mlir.name} with regions cannot have another number of operands")
        made = ir.Operation.create(
            mlir.name,
            results=[type_of_shape(shape, self._context) for shape in shapes],
            operands=[as_value(operand).mlir for operand in operands],
            attributes={each: mlir.attributes[each] for each in mlir.attributes},
            loc=ir.Location.unknown(self._context),
            ip=self._point,
        )
        annotate_operation(made.operation, shapes)
        return self._adopt(made.operation, name, original)

    @property
    def _context(self) -> ir.Context:
        return self._module.context

    def _create(
        self,
        opcode: str,
        operands: Sequence[Value],
        shape: Shape,
        attributes: Mapping[str, ir.Attribute | Sequence[int]],
        *,
        name: str,
        like: Value,
    ) -> StableHloValue:
        made = ir.Operation.create(
            opcode,
            results=[type_of_shape(shape, self._context)],
            operands=[as_value(operand).mlir for operand in operands],
            attributes={
                key: each if isinstance(each, ir.Attribute) else ir.DenseI64ArrayAttr.get(list(each), self._context)
                for key, each in attributes.items()
            },
            loc=ir.Location.unknown(self._context),
            ip=self._point,
        )
        annotate_operation(made.operation, [shape])
        return self._adopt(made.operation, name, as_value(like))[0]

    def _adopt(
        self, made: ir.Operation, name: str, like: StableHloValue | StableHloOperation
    ) -> Sequence[StableHloValue]:
        """Gives a new operation the location of `like` and its own name."""
        location, origin = like.mlir.location, like.place
        # A new operation has only its own name, not the one of `like`.
        if origin is not None and origin.name is not None and isinstance(location, ir.NameLoc):
            location = location.child_loc
        made.location = ir.Location.name(name, location, self._context)
        operation = self._module.operation(made)
        assign(operation, "origin", replace(origin, name=name) if origin else Origin(NOWHERE, NOWHERE, name))
        return operation.results


def _attributes(step: Step) -> dict[str, Sequence[int]]:
    """Returns StableHLO's attributes of a step; reshapes and bitcast-converts have none."""
    match step:
        case Transpose():
            return {"permutation": step.permutation}
        case Slice():
            return {"start_indices": step.start, "limit_indices": step.limit, "strides": step.strides}
        case Pad():
            return {"edge_padding_low": step.low, "edge_padding_high": step.high, "interior_padding": step.gaps}
    return {}
