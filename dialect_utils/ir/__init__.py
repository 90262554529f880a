"""The interface through which a pass sees a module of either dialect.

`dialect_utils.hlo` and `dialect_utils.stablehlo` implement these protocols, so a pass written against them runs on
both. Data movement is expressed as steps of `dialect_utils.layout`. The interface hides these differences:

* An HLO instruction is an operation with exactly one value, which may be a tuple. A StableHLO operation has any number
  of values and no tuples. `Builder.flatten` and `Builder.make_tuple` convert between a tuple and its arrays.
* A `Function` is an HLO computation, a StableHLO function or a region block. Its `results`, which ROOT or the return
  yields, count as used.
* Parameters are values without a defining operation: `operations` omits HLO's `parameter` instructions.
* `opcode` is HLO's spelling in both dialects ("broadcast", "dynamic-slice", "custom-call").

Longer than most files: the protocols name each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from dialect_utils.layout import ArrayShape, ElementType, Shape, Step, TupleShape
from dialect_utils.text import DiagnosticError, Location

if TYPE_CHECKING:
    from dialect_utils.layout.moves.plan import Plan

Dialect = Literal["hlo", "stablehlo"]


@runtime_checkable
class Value(Protocol):
    """A typed value with one definition: an operation's result or a function's parameter.

    Two values are equal, with equal hashes, if they are the same value of the same module.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Returns the name without `%`; new operations are named after it."""

    def rename(self, name: str) -> None:
        """Changes the name of an operation's only result; raises ValueError for other values and for a name in use."""

    @property
    def shape(self) -> Shape:
        """Returns the shape with the layout that the module writes (None if it writes none)."""

    def set_shape(self, shape: Shape) -> None:
        """Changes type and layout, and the signatures and the entry layout that mention the value.

        StableHLO layouts follow docs/conventions.md; a StableHLO region block argument cannot carry a layout.
        """

    @property
    def operation(self) -> Operation | None:
        """Returns the defining operation, or None for a parameter."""

    @property
    def function(self) -> Function:
        """Returns the function that defines the value."""

    @property
    def users(self) -> Sequence[Operation]:
        """Returns the operations that use the value, each once. Being a function's result does not count."""

    def replace_uses(self, new: Value, *, keep: Sequence[Operation] = ()) -> None:
        """Replaces the value by `new` in every operation outside `keep` and in function results."""

    @property
    def location(self) -> Location | None:
        """Returns the location of the definition in the input text, for diagnostics."""


def array_shape(value: Value) -> ArrayShape:
    """Returns the shape of an array; raises DiagnosticError for a value of another type."""
    if not isinstance(value.shape, ArrayShape):
        raise DiagnosticError(f"{value.name} is not an array but {value.shape}", value.location)
    return value.shape


@runtime_checkable
class Operation(Protocol):
    """One operation of a module, compared and hashed by identity."""

    __slots__ = ()

    @property
    def opcode(self) -> str:
        """Returns HLO's name of the operation in both dialects: `dynamic-slice`, but `chlo.erf`, which HLO lacks."""

    @property
    def is_unknown(self) -> bool:
        """Is true for an operation of a dialect that jaxlib lacks: it may compute anything, and have side effects."""
        return False

    @property
    def operands(self) -> Sequence[Value]:
        """Returns the operands in order, without `captured`."""

    def set_operand(self, index: int, value: Value) -> None:
        """Replaces one operand."""

    def set_operands(self, values: Sequence[Value]) -> None:
        """Replaces all operands; raises ValueError for another number of them."""
        if len(values) != len(self.operands):
            raise ValueError(f"{self.opcode} has {len(self.operands)} operands, not {len(values)}")
        for index, value in enumerate(values):
            self.set_operand(index, value)

    @property
    def captured(self) -> Sequence[Value]:
        """Returns the values from outside that the operations in its regions use; none in HLO."""

    @property
    def results(self) -> Sequence[Value]:
        """Returns the values: exactly one in HLO."""

    @property
    def called(self) -> Sequence[Function]:
        """Returns the called functions or the regions in the order of `roles`, which may differ from the text's."""

    @property
    def roles(self) -> Sequence[str]:
        """Returns the role of each called function: the HLO attribute (`condition`, `to_apply`) or `branch 0`."""

    def called_as(self, role: str) -> Function:
        """Returns the function called in a role; raises ValueError if the operation has no such role."""

    @property
    def function(self) -> Function:
        """Returns the function that contains the operation."""

    @property
    def step(self) -> Step | None:
        """Returns the data-movement step of a transpose, reshape, slice, bitcast-convert or pad, else None.

        Operand 1 of a pad is the padding value.
        """

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute that is a list of integers, by HLO's name, or None.

        `dimensions` names the broadcast dimensions of StableHLO's `broadcast_in_dim`.
        """

    def set_ints(self, name: str, values: Sequence[int]) -> None:
        """Changes an attribute that `ints` reads; raises ValueError if the operation does not have it."""

    def attribute(self, name: str) -> str | None:
        """Returns an attribute's text as the dialect writes it, or None if it is absent."""

    def string(self, name: str) -> bytes | None:
        """Returns the bytes of an attribute that is a string, or None for another one."""

    def definition(self, symbol: str) -> str | None:
        """Returns the text of the module's operation of this name, such as a mesh; None in HLO, which has none."""

    @property
    def attribute_names(self) -> Sequence[str]:
        """Returns the names of all attributes, as the dialect writes them."""

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns the texts of all attributes by the dialect's own names, a StableHLO constant's contents included."""

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes, adds or (for None) drops an attribute; name and text are those of the dialect."""

    @property
    def frontend_attributes(self) -> Mapping[str, str]:
        """Returns HLO's `frontend_attributes`, StableHLO's `mhlo.frontend_attributes`."""

    def set_frontend_attribute(self, name: str, value: str | None) -> None:
        """Changes, adds or (for None) drops one frontend attribute."""

    @property
    def splat_bits(self) -> int | None:
        """Returns the bits of every element of a splat constant, or None for other operations."""

    @property
    def callee(self) -> str | None:
        """Returns `custom_call_target` of a custom call, else None."""

    def erase(self) -> None:
        """Removes the operation; raises ValueError if one of its results is still used."""

    @property
    def location(self) -> Location | None:
        """Returns the location of the operation in the input text, for diagnostics."""


@runtime_checkable
class Function(Protocol):
    """An HLO computation, or a StableHLO function or region block."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Returns the name without `%` or `@`; a region is named after its operation and its number."""

    @property
    def parameters(self) -> Sequence[Value]:
        """Returns the parameters in the order of their numbers."""

    @property
    def operations(self) -> Sequence[Operation]:
        """Returns a snapshot of the operations in order, without parameters and terminator."""

    def values(self) -> Sequence[Value]:
        """Returns the values that it defines: the parameters, then the results of the operations."""

    @property
    def results(self) -> Sequence[Value]:
        """Returns the values it yields: (ROOT,) in HLO, the terminator's operands in StableHLO."""

    def drop_parameter(self, parameter: Value) -> None:
        """Removes a parameter without uses from a function without callers; raises ValueError for others."""

    def set_parameters(self, order: Sequence[int | Shape]) -> None:
        """Gives a function without callers its own parameters in another order, by number, and new ones of shapes."""

    def set_results(self, values: Sequence[Value]) -> None:
        """Changes the yielded values, and with them the signature and, for the entry, the entry layout."""

    @property
    def callers(self) -> Sequence[Operation]:
        """Returns the operations that call the function or hold the region."""

    @property
    def outermost(self) -> Function:
        """Returns the function that contains a region, however deep; the function itself if it is not a region."""

    @property
    def is_entry(self) -> bool:
        """Is true for the ENTRY computation, and for the public function `main` or the only public one."""

    @property
    def is_embedded(self) -> bool:
        """Is true for an embedded computation: reduce, sort, scatter or map applies it per element."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an operation, by index."""

    operation: Operation
    index: int

    @property
    def value(self) -> Value:
        """Returns the value that is passed."""
        return self.operation.operands[self.index]

    def replace(self, value: Value) -> None:
        """Replaces the operand by another value."""
        self.operation.set_operand(self.index, value)


@dataclass(frozen=True, slots=True)
class Yielded:
    """One result of a function, by index."""

    function: Function
    index: int

    @property
    def value(self) -> Value:
        """Returns the value that is passed."""
        return self.function.results[self.index]

    def replace(self, value: Value) -> None:
        """Replaces the function's result by another value."""
        results = list(self.function.results)
        results[self.index] = value
        self.function.set_results(results)


Passed = Operand | Yielded


@dataclass(frozen=True, slots=True)
class Join:
    """Values that control flow joins: each target (a parameter or result) receives the value of one of the sources.

    A loop's state, for example, has its initial value and the body's result as sources. Its targets are the loop's
    result, which comes first, and the parameters of condition and body. All of them have one type.
    """

    sources: tuple[Passed, ...]
    targets: tuple[Value, ...]

    @property
    def edges(self) -> Iterator[tuple[Passed, Value]]:
        """Yields every pair of a source and a target."""
        return product(self.sources, self.targets)

    @property
    def values(self) -> tuple[Value, ...]:
        """Returns the joined values: the targets, then the sources' values."""
        return (*self.targets, *(source.value for source in self.sources))


@dataclass(frozen=True, slots=True)
class Part:
    """Operations of one function in their order, the values that they need from outside, and the values they give."""

    function: Function
    operations: tuple[Operation, ...]
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]


class NewScalar(NamedTuple):
    """A padding value with these bits, built as a scalar constant before its pad."""

    name: str
    bits: int


# The padding of a step: a scalar of the module, or a new one; None for a step that does not pad.
Padding = Value | NewScalar | None


class Builder(Protocol):
    """A maker of operations at one position of a function, each after the one made before.

    `name` becomes the HLO name (made unique; in StableHLO only a debug location). `like` gives metadata and location,
    but not its frontend attributes, which describe only the op that carries them.
    """

    __slots__ = ()

    def apply(self, step: Step, value: Value, *, name: str, like: Value, padding: Value | None = None) -> Value:
        """Makes the op of one data-movement step; the result has no written layout, which means the descending one.

        Raises ValueError for a Pad without `padding`, a scalar of the same type, and where the step does not fit.
        """
        # Few modules make single steps.
        from dialect_utils.layout.moves.plan import Plan

        if not isinstance(value.shape, ArrayShape):
            raise ValueError(f"{step} needs an array of fixed dimensions, found {value.shape}")
        plan = Plan(*value.shape.type_and_dimensions, (step,))
        return self.apply_plan(plan, value, [name], like=like, paddings=[padding])[0]

    def apply_plan(
        self, plan: Plan, value: Value, names: Sequence[str], *, like: Value, paddings: Sequence[Padding]
    ) -> Sequence[Value]:
        """Builds the ops of all steps of a plan, each on the result of the one before; returns their results.

        `names` and `paddings` have one entry for each step. Raises ValueError as `apply` does.
        """

    def constant(self, element_type: ElementType, bits: int, *, name: str, like: Value) -> Value:
        """Builds a scalar constant with exactly these bits (two's complement for integers)."""

    def broadcast(self, value: Value, dimensions: Sequence[int], *, name: str, like: Value) -> Value:
        """Builds an array of `dimensions` whose elements all equal a scalar."""

    def concatenate(self, values: Sequence[Value], dimension: int, shape: Shape, *, name: str, like: Value) -> Value:
        """Makes an array of this shape from several, which are joined in one dimension."""

    def convert(self, value: Value, element_type: ElementType, *, name: str, like: Value) -> Value:
        """Builds an element type conversion."""

    def copy(self, value: Value, shape: Shape, *, name: str, like: Value) -> Value:
        """Builds an HLO `copy` into another layout; raises ValueError in StableHLO, which has no copy."""

    def bitcast(self, value: Value, shape: Shape, *, name: str, like: Value) -> Value:
        """Builds an HLO `bitcast`, which reads the bytes of a value as `shape`; raises ValueError in StableHLO."""

    def element(self, value: Value, index: int, *, name: str) -> Value:
        """Builds an element of a tuple."""

    def flatten(self, value: Value, *, name: str) -> list[Value]:
        """Returns the arrays and tokens of a nested tuple: operands of its `tuple` op, else new get-tuple-elements."""
        if not isinstance(value.shape, TupleShape):
            return [value]
        if value.operation is not None and value.operation.opcode == "tuple":
            parts = value.operation.operands
        else:
            parts = [self.element(value, i, name=f"{name}.{i}") for i, _ in enumerate(value.shape.elements)]
        return [leaf for i, part in enumerate(parts) for leaf in self.flatten(part, name=f"{name}.{i}")]

    def make_tuple(self, leaves: Sequence[Value], shape: Shape, *, name: str, like: Value) -> Value:
        """Builds a tuple that nests like `shape`, with the leaves' own shapes."""

    def clone(
        self, operation: Operation, operands: Sequence[Value], shapes: Sequence[Shape], *, name: str
    ) -> Sequence[Value]:
        """Copies an operation with its attributes, called functions, metadata and location; returns its results."""


@runtime_checkable
class Module(Protocol):
    """A whole module; passes edit a clone of it.

    >>> assert relayout.read("examples/negate.hlo").dialect == "hlo"
    """

    @property
    def dialect(self) -> Dialect:
        """Returns the module's dialect."""

    @property
    def name(self) -> str:
        """Returns the module's name."""

    @property
    def functions(self) -> Sequence[Function]:
        """Returns every function, including regions; in HLO callees come before callers."""

    def operations(self) -> Iterator[Operation]:
        """Yields every operation of every function, from a snapshot of each function in order."""

    def values(self) -> Iterator[Value]:
        """Yields every value of every function, from a snapshot of each function in order."""

    @property
    def entry(self) -> Function:
        """Returns the entry; raises DiagnosticError for a module without one."""

    def try_entry(self) -> Function | None:
        """Returns the entry, or None for a fragment, and for StableHLO with other functions than one public one."""

    def remove_function(self, function: Function) -> None:
        """Removes a function without callers; raises ValueError for others and for the entry."""

    def clone(self) -> Module:
        """Returns an independent copy."""

    def text(self) -> str:
        """Prints the module: unchanged HLO byte for byte, StableHLO as MLIR prints it."""

    def before(self, operation: Operation) -> Builder:
        """Returns a builder right before an operation."""

    def after(self, value: Value) -> Builder:
        """Returns a builder right after a value's definition (for a parameter: after all parameters)."""

    def at_end(self, function: Function) -> Builder:
        """Returns a builder after all operations, before the terminator."""

    @property
    def entry_layout(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Returns the shapes of the entry's parameters and results with the layouts that callers see.

        HLO: entry_computation_layout, else the shapes of parameters and ROOT. StableHLO: main's arguments and results.
        """

    def set_entry_layout(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes the layouts that callers see, one shape per parameter and result; types stay as they are."""

    @property
    def entry_shardings(self) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
        """Returns the texts of the shardings of the entry's parameters and results, None where it has none."""

    def mesh(self, symbol: str) -> str | None:
        """Returns the text of the mesh of Shardy that a symbol names; None where the module has none."""

    @property
    def aliases(self) -> Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        """Returns (result index path, parameter number, parameter index path) of every alias of the entry."""

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns the module's attributes as text, by name."""

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes or adds an attribute of the module, or drops it for None."""
