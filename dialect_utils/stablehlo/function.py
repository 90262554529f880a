"""Functions: `func.func`, and the blocks of regions; and values, which functions and operations define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.assignments import Guarded
from dialect_utils.layout import Shape
from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.annotations import operation_shapes, text_of
from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.interface import Interface
from dialect_utils.stablehlo.origins import Origin, argument_name, blocks_of, location_of, origin_of, result_name
from dialect_utils.stablehlo.types import retyped, set_type, shape_of_type
from dialect_utils.text import DiagnosticError, Location

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule
    from dialect_utils.stablehlo.operation import StableHloOperation

FUNCTION, _RETURN = "func.func", "func.return"
# The operations that yield the results of a function or region end with these.
_TERMINATORS = (".return", ".yield")


class StableHloValue(Guarded, Value):
    """A result of an operation or an argument of a block, one object for each; `owner` is the operation or function."""

    __slots__ = ("_mlir", "index", "origin", "owner")

    def __init__(self, owner: StableHloOperation | StableHloFunction, mlir: ir.Value[Any], index: int) -> None:
        self.owner = owner
        self.index = index
        self._mlir = mlir
        self.origin: Origin | None = None

    def __repr__(self) -> str:
        return f"<value %{self.name}: {self.shape}>"

    @property
    def mlir(self) -> ir.Value[Any]:
        """Returns the MLIR value; raises ValueError where its operation was erased."""
        self.owner.require_alive()
        return self._mlir

    @property
    def name(self) -> str:
        """Returns the name in the original text, or a new value's own name."""
        source, origin = self.owner.module.source, self.place
        operation = self.operation
        if operation is not None:
            if origin is not None and origin.name is not None:
                return origin.name if len(operation.results) == 1 else f"{origin.name}#{self.index}"
            return (origin and result_name(source, origin, self.index)) or operation.opcode
        return (origin and argument_name(source, origin)) or f"arg{self.index}"

    def rename(self, name: str) -> None:
        if self.operation is None or len(self.operation.results) != 1:
            raise ValueError(f"{self.name} is not the only result of an operation")
        self.operation.rename(name)

    @property
    def shape(self) -> Shape:
        """Returns the shape with the annotated layout; raises DiagnosticError for a wrong annotation."""
        return self.owner.value_shape(self.index)

    def set_shape(self, shape: Shape) -> None:
        """Changes the type, the annotation, and the signatures of functions that return the value.

        Raises ValueError for a shape without a StableHLO type, DiagnosticError for a sharding that cannot follow.
        """
        try:
            self.owner.set_value_shape(self.index, shape)
            for function, position in self._returned():
                function.interface.set_result(position, shape, self.mlir.type)
        except DiagnosticError as error:
            raise self.owner.module.placed(error, self.location) from None

    @property
    def operation(self) -> StableHloOperation | None:
        return None if isinstance(self.owner, StableHloFunction) else self.owner

    @property
    def function(self) -> StableHloFunction:
        return self.owner.function

    @property
    def users(self) -> Sequence[StableHloOperation]:
        """Returns the operations that use the value, in nested regions too, oldest use first."""
        module = self.owner.module
        owners = [use.owner.operation for use in self.mlir.uses]
        found = (module.operation(owner) for owner in reversed(owners) if not owner.name.endswith(_TERMINATORS))
        return tuple(dict.fromkeys(found))

    def replace_uses(self, new: Value, *, keep: Sequence[Operation] = ()) -> None:
        """Makes every use outside `keep`, also in nested regions and results, use `new`.

        A function's result gets the new value's type, and its layout where the two values' layouts differ.
        """
        from dialect_utils.stablehlo.operation import as_operation

        value, shape = as_value(new).mlir, self.shape
        kept = [as_operation(operation).mlir for operation in keep]
        returned = self._returned()
        self.mlir.replace_all_uses_except(value, kept)
        for function, position in returned:
            function.result_changed(position, shape, new.shape, value.type)

    @property
    def location(self) -> Location | None:
        return location_of(self.owner.module.source, self.place)

    @property
    def place(self) -> Origin | None:
        """Returns the line and column in the original text, or None."""
        if self.operation is not None:
            return self.operation.place
        return self.origin or origin_of(self.mlir.location)

    def _returned(self) -> list[tuple[StableHloFunction, int]]:
        module = self.owner.module
        uses = [(use.owner.operation, use.operand_number) for use in self.mlir.uses]
        return [(module.function(owner.block), number) for owner, number in uses if owner.name == _RETURN]


def as_value(value: object) -> StableHloValue:
    """Returns a value as this package's class; raises TypeError for a value of another dialect."""
    if not isinstance(value, StableHloValue):
        raise TypeError(f"expected a StableHLO value, found {type(value).__name__}")
    return value


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
