"""Functions: `func.func`, and the blocks of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Function, Value
from dialect_utils.ir.assignments import Guarded
from dialect_utils.layout import Shape
from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.annotations import operation_shapes, text_of
from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.interface import Interface
from dialect_utils.stablehlo.origins import blocks_of
from dialect_utils.stablehlo.types import retyped, set_type, shape_of_type
from dialect_utils.stablehlo.value import StableHloValue, as_value
from dialect_utils.text import DiagnosticError

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule
    from dialect_utils.stablehlo.operation import StableHloOperation

FUNCTION = "func.func"


class StableHloFunction(Guarded, Function):
    """A function or a region's block, one object for each.

    `holder` is the `func.func`, or the operation that holds the region; `block` is None for a declaration.
    """

    __slots__ = ("_block", "_is_alive", "_parameters", "holder", "module")

    def __init__(self, module: StableHloModule, holder: ir.Operation, block: ir.Block | None) -> None:
        self.module = module
        self.holder = holder
        self._block = block
        self._is_alive = True
        self._parameters: tuple[StableHloValue, ...] | None = None

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    @property
    def block(self) -> ir.Block | None:
        """Returns the MLIR block; raises ValueError where its operation was erased."""
        self.require_alive()
        return self._block

    @property
    def body(self) -> ir.Block:
        """Returns the MLIR block; raises ValueError for a function that is only declared."""
        if self.block is None:
            raise ValueError(f"{self.name} is only declared")
        return self.block

    def require_alive(self) -> None:
        """Raises ValueError where the region's operation was erased."""
        if not self._is_alive:
            raise ValueError("the region's operation was erased")

    def forget(self) -> None:
        """Marks the region as erased."""
        self._is_alive = False

    @property
    def function(self) -> StableHloFunction:
        """Returns itself, as the owner of its parameters."""
        return self

    @property
    def is_region(self) -> bool:
        """Is true for the block of an operation's region."""
        return self.holder.name != FUNCTION

    @property
    def outermost(self) -> StableHloFunction:
        found = self
        while found.is_region:
            found = self.module.operation(found.holder).function
        return found

    @property
    def interface(self) -> Interface:
        """Returns the signature of a `func.func`."""
        return self.module.interface(self.holder)

    @property
    def name(self) -> str:
        if not self.is_region:
            return text_of(self.holder, "sym_name")
        operation = self.module.operation(self.holder)
        name = operation.results[0].name if operation.results else operation.opcode
        return f"{name}.{next(i for i, block in enumerate(blocks_of(self.holder)) if block == self.block)}"

    @property
    def parameters(self) -> Sequence[StableHloValue]:
        if self._parameters is None:
            arguments = [] if self.block is None else self.block.arguments
            self._parameters = tuple(StableHloValue(self, argument, i) for i, argument in enumerate(arguments))
        return self._parameters

    @property
    def operations(self) -> Sequence[StableHloOperation]:
        if self.block is None:
            return ()
        found = [operation.operation for operation in self.block.operations]
        if self.terminator is not None:
            found.pop()
        return tuple(map(self.module.operation, found))

    @property
    def terminator(self) -> ir.Operation | None:
        """Returns the operation that yields the results, or None for a declaration."""
        if self.block is None:
            return None
        try:
            return ir.InsertionPoint.at_block_terminator(self.block).ref_operation
        except ValueError:
            return None

    def values(self) -> Sequence[StableHloValue]:
        return [*self.parameters, *(result for operation in self.operations for result in operation.results)]

    @property
    def results(self) -> Sequence[StableHloValue]:
        terminator = self.terminator
        return () if terminator is None else tuple(map(self.module.value, terminator.operands))

    def drop_parameter(self, parameter: Value) -> None:
        if parameter.users or parameter in self.results or self.callers:
            raise ValueError(f"{parameter.name} is still used, or given a value")
        index = self.parameters.index(as_value(parameter))
        self.interface.drop_argument(index)
        self.module.forget_values(self.body.arguments)
        self.body.erase_argument(index)
        self._parameters = None

    def set_parameters(self, order: Sequence[int | Shape]) -> None:
        before = list(self.body.arguments)
        self.module.forget_values(before)
        for mlir_type, each in zip(self.interface.set_arguments(order), order, strict=True):
            if isinstance(each, int):
                before[each].replace_all_uses_with(self.body.add_argument(mlir_type, before[each].location))
            else:
                self.body.add_argument(mlir_type, ir.Location.unknown(self.module.context))
        for _ in before:
            self.body.erase_argument(0)
        self._parameters = None

    def set_results(self, values: Sequence[Value]) -> None:
        """Yields other values, as many as before; the signature follows."""
        before, terminator = self.results, self.terminator
        if len(values) != len(before):
            raise ValueError(f"{self.name} yields {len(before)} values, not {len(values)}")
        for index, (old, new) in enumerate(zip(before, values, strict=True)):
            assert terminator is not None
            value = as_value(new).mlir
            terminator.operands[index] = value
            self.result_changed(index, old.shape, new.shape, value.type)

    def result_changed(self, index: int, old: Shape, new: Shape, mlir_type: ir.Type) -> None:
        """Updates the signature after another value became a result.

        A result's layout may differ from its value's; it stays where the values' shapes are equal.
        """
        if not self.is_region and old != new:
            self.interface.set_result(index, new, mlir_type)

    @property
    def callers(self) -> Sequence[StableHloOperation]:
        if self.is_region:
            return (self.module.operation(self.holder),)
        return self.module.callers_of(self.name)

    @property
    def is_entry(self) -> bool:
        return not self.is_region and self.interface.is_entry

    @property
    def is_embedded(self) -> bool:
        """Is true for a region that is applied per element, and for regions of unknown operations."""
        return self.is_region and not has(hlo_opcode(self.holder.name), Trait.CALLS)

    def value_shape(self, index: int) -> Shape:
        """Returns an argument's shape; a `while` region's arguments have the layouts of its results."""
        self.require_alive()
        try:
            if not self.is_region:
                return self.interface.argument_shape(index)
            if hlo_opcode(self.holder.name) == "while":
                own = shape_of_type(self.parameters[index].mlir.type)
                result = operation_shapes(self.holder)[index]
                # The types of the parameter and the result differ while a pass has changed only one of them.
                return result if shape_of_type(self.holder.results[index].type) == own else own
        except DiagnosticError as error:
            raise self.module.placed(error, self.parameters[index].location) from None
        return shape_of_type(self.parameters[index].mlir.type)

    def set_value_shape(self, index: int, shape: Shape) -> None:
        """Changes an argument's type, and for a function its layout and the signature."""
        value = self.parameters[index].mlir
        if not self.is_region:
            self.interface.set_argument(index, shape, retyped(value.type, shape))
        set_type(value, shape)


def as_function(function: object) -> StableHloFunction:
    """Returns a function as this package's class; raises TypeError for a function of another dialect."""
    if not isinstance(function, StableHloFunction):
        raise TypeError(f"expected a StableHLO function, found {type(function).__name__}")
    return function
