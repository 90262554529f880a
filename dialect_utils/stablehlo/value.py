"""Values: results of operations, and arguments of functions and regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.ir import Operation, Value
from dialect_utils.ir.assignments import Guarded
from dialect_utils.layout import Shape
from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.origins import Origin, argument_name, location_of, origin_of, result_name
from dialect_utils.text import DiagnosticError, Location

if TYPE_CHECKING:
    from dialect_utils.stablehlo.function import StableHloFunction
    from dialect_utils.stablehlo.operation import StableHloOperation

_RETURN = "func.return"


def is_terminator(operation: ir.Operation) -> bool:
    """Is true for the operation that yields the results of a function or region."""
    return operation.name.endswith((".return", ".yield"))


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
        from dialect_utils.stablehlo.operation import StableHloOperation

        return self.owner if isinstance(self.owner, StableHloOperation) else None

    @property
    def function(self) -> StableHloFunction:
        return self.owner.function

    @property
    def users(self) -> Sequence[StableHloOperation]:
        """Returns the operations that use the value, in nested regions too, oldest use first."""
        module = self.owner.module
        owners = [use.owner.operation for use in self.mlir.uses]
        found = (module.operation(owner) for owner in reversed(owners) if not is_terminator(owner))
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
