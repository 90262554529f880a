"""The small interface through which a pass sees a module, whatever its dialect.

`dialect_utils.hlo` and `dialect_utils.stablehlo` implement these protocols; a pass written
against them runs on both. Data movement is spoken in the steps of `dialect_utils.layout`.

What differs between the dialects, and how the interface hides it:

* An HLO instruction is an operation and its one value, which may be a tuple. A StableHLO
  operation has any number of values, none of them tuples. `Builder.flatten` and `Builder.make_tuple`
  take a value apart into arrays and put it together again; on a value that is no tuple they
  do nothing.
* An HLO computation and a StableHLO function or region block are both a `Function`. What the
  ROOT or the return yields are its `results`; they count as uses of those values.
* Parameters are values without a defining operation (HLO's `parameter` instructions do not
  appear among `operations`).
* `opcode` is HLO's spelling in both dialects ("broadcast", "dynamic-slice", "custom-call").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, Protocol, runtime_checkable

from dialect_utils.layout import ArrayShape, ElementType, Shape, Step
from dialect_utils.text import Diagnostic, DiagnosticError, Location

Dialect = Literal["hlo", "stablehlo"]


@runtime_checkable
class Value(Protocol):
    """A typed value with one definition: an operation's result or a function's parameter.

    Values are equal where they are the same value of the same module, and hash alike.
    """

    @property
    def name(self) -> str:
        """Returns the name without `%`; new operations are named after it."""

    def rename(self, name: str) -> None:
        """Changes the name of an operation's only result; raises ValueError for other values and for a name in use."""

    @property
    def shape(self) -> Shape:
        """Returns the shape with the layout the module gives it (None: none written)."""

    def set_shape(self, shape: Shape) -> None:
        """Changes type and layout; signatures that mention the value follow.

        An entry parameter or result changes the entry layout too. Layouts in StableHLO are
        written by the conventions of docs/conventions.md; region block arguments have none of
        their own, so theirs is dropped there.
        """

    @property
    def operation(self) -> Operation | None:
        """Returns the defining operation, or None for a parameter."""

    @property
    def function(self) -> Function:
        """Returns the function the value lives in."""

    @property
    def users(self) -> Sequence[Operation]:
        """Returns the operations that use the value, each once (function results are not operations)."""

    def replace_uses(self, new: Value, *, keep: Sequence[Operation] = ()) -> None:
        """Makes every use, function results included, use `new`, but not in the operations of `keep`."""

    @property
    def location(self) -> Location | None:
        """Returns where the value is defined in the text that was read, for diagnostics."""


def array_shape(value: Value) -> ArrayShape:
    """Returns the shape of a value that has to be an array; raises DiagnosticError for others."""
    if not isinstance(value.shape, ArrayShape):
        raise DiagnosticError(Diagnostic(f"{value.name} is not an array but {value.shape}", value.location))
    return value.shape


@runtime_checkable
class Operation(Protocol):
    """One operation; equal and hashed by identity in its module."""

    @property
    def opcode(self) -> str:
        """Returns HLO's name of the operation, e.g. `dynamic-slice`, in both dialects.

        A StableHLO op without a counterpart has its full name, e.g. `chlo.erf`.
        """

    @property
    def operands(self) -> Sequence[Value]:
        """Returns the operands in order (values a StableHLO region captures are not among them)."""

    def set_operand(self, index: int, value: Value) -> None:
        """Replaces one operand."""

    @property
    def results(self) -> Sequence[Value]:
        """Returns the values: exactly one in HLO."""

    @property
    def called(self) -> Sequence[Function]:
        """Returns the functions it calls or the regions it holds, in the order of their roles, not of the text."""

    @property
    def roles(self) -> Sequence[str]:
        """Returns what each called function is for: `condition`, `body`, `to_apply`, `branch 0` and the like.

        HLO's names of the attributes that name them, in both dialects; branches are numbered.
        """

    def called_as(self, role: str) -> Function:
        """Returns the function it calls in a role; raises ValueError where there is none."""

    def control_flow(self) -> Sequence[Join]:
        """Returns where the values that it passes to functions, and that these yield, arrive.

        None for an operation that calls no function as a whole.
        """

    @property
    def function(self) -> Function:
        """Returns the function the operation is in."""

    @property
    def step(self) -> Step | None:
        """Returns the data-movement step, or None.

        transpose, reshape, slice, bitcast-convert and pad (whose padding is operand 1) have one.
        """

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute that is a list of integers, by HLO's name (`dimensions`, ...), or None.

        StableHLO's `broadcast_in_dim` answers to `dimensions` with its broadcast dimensions.
        """

    def set_ints(self, name: str, values: Sequence[int]) -> None:
        """Changes an attribute that `ints` reads; raises ValueError where the operation has no such one."""

    def attribute(self, name: str) -> str | None:
        """Returns an attribute's text as the dialect writes it, or None where it is absent."""

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns the texts of all attributes by the dialect's own names, a StableHLO constant's contents included."""

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes, adds or (for None) drops an attribute, by the dialect's name and in its spelling."""

    @property
    def frontend_attributes(self) -> Mapping[str, str]:
        """Returns HLO's `frontend_attributes`, StableHLO's `mhlo.frontend_attributes`."""

    def set_frontend_attribute(self, name: str, value: str | None) -> None:
        """Changes, adds or (for None) drops one frontend attribute."""

    @property
    def splat_bits(self) -> int | None:
        """Returns the bits that every element of a constant has, or None for other operations and contents."""

    @property
    def callee(self) -> str | None:
        """Returns `custom_call_target` of a custom call, else None."""

    def erase(self) -> None:
        """Removes the operation; raises ValueError where a value of it is still used."""

    @property
    def location(self) -> Location | None:
        """Returns where the operation is in the text that was read, for diagnostics."""


@runtime_checkable
class Function(Protocol):
    """An HLO computation, or a StableHLO function or region block."""

    @property
    def name(self) -> str:
        """Returns the name without `%` or `@`; a region has its operation's name and its position."""

    @property
    def parameters(self) -> Sequence[Value]:
        """Returns the parameters in order of their number."""

    @property
    def operations(self) -> Sequence[Operation]:
        """Returns a snapshot of the operations in order, without parameters and terminators."""

    def values(self) -> Sequence[Value]:
        """Returns the values that live in it: the parameters, then the results of the operations."""

    @property
    def results(self) -> Sequence[Value]:
        """Returns the values it yields: (ROOT,) in HLO, the terminator's operands in StableHLO."""

    def set_results(self, values: Sequence[Value]) -> None:
        """Yields other values; the function's signature and, for the entry, its layout follow."""

    @property
    def callers(self) -> Sequence[Operation]:
        """Returns the operations that call it or hold it."""

    @property
    def is_entry(self) -> bool:
        """Is true for the ENTRY computation and for the public function `main`."""

    @property
    def is_embedded(self) -> bool:
        """Is true for an embedded computation: one that reduce, sort, scatter, map and the like apply per element."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an operation: a place where a value is passed on."""

    operation: Operation
    index: int

    @property
    def value(self) -> Value:
        """Returns the value that is passed."""
        return self.operation.operands[self.index]

    def replace(self, value: Value) -> None:
        """Passes another value."""
        self.operation.set_operand(self.index, value)


@dataclass(frozen=True, slots=True)
class Yielded:
    """One result of a function: a place where a value is passed back."""

    function: Function
    index: int

    @property
    def value(self) -> Value:
        """Returns the value that is passed."""
        return self.function.results[self.index]

    def replace(self, value: Value) -> None:
        """Passes another value."""
        results = list(self.function.results)
        results[self.index] = value
        self.function.set_results(results)


Passed = Operand | Yielded


@dataclass(frozen=True, slots=True)
class Join:
    """Values that meet: what any of the sources passes arrives as each of the targets.

    The targets are parameters of functions and results of operations; an operation's result comes
    first. All of them, and all that is passed, have one type.
    """

    sources: tuple[Passed, ...]
    targets: tuple[Value, ...]

    @property
    def edges(self) -> Iterator[tuple[Passed, Value]]:
        """Yields (where a value is passed, what it arrives as)."""
        return product(self.sources, self.targets)

    @property
    def values(self) -> tuple[Value, ...]:
        """Returns all that is joined: the targets, then what is passed."""
        return (*self.targets, *(source.value for source in self.sources))


class Builder(Protocol):
    """A maker of operations at one place of a function; each new one comes after the one before.

    `name` becomes the HLO name (made unique) and `like` gives metadata and location; its
    frontend attributes speak of the op that carries them and stay its own. In StableHLO names
    appear only in debug locations.
    """

    def apply(self, step: Step, value: Value, *, name: str, like: Value, padding: Value | None = None) -> Value:
        """Makes the op of one data-movement step.

        The result has no layout: the descending one. `padding`, a scalar of the same type, is
        needed for Pad; raises ValueError without it.
        """

    def constant(self, element_type: ElementType, bits: int, *, name: str, like: Value) -> Value:
        """Makes a scalar constant with exactly these bits (two's complement for integers)."""

    def broadcast(self, value: Value, dimensions: Sequence[int], *, name: str, like: Value) -> Value:
        """Makes an array of `dimensions` all of whose elements are one scalar."""

    def convert(self, value: Value, element_type: ElementType, *, name: str, like: Value) -> Value:
        """Makes an element type conversion."""

    def copy(self, value: Value, shape: Shape, *, name: str, like: Value) -> Value:
        """Makes an HLO `copy` into another layout; raises ValueError in StableHLO, which has none."""

    def bitcast(self, value: Value, shape: Shape, *, name: str, like: Value) -> Value:
        """Makes an HLO `bitcast`, which reads the bytes of a value as `shape`; raises ValueError in StableHLO."""

    def flatten(self, value: Value, *, name: str) -> list[Value]:
        """Returns the arrays (and tokens) of a value, tuples flattened, through get-tuple-element.

        The operands of a `tuple` operation are used directly.
        """

    def make_tuple(self, leaves: Sequence[Value], shape: Shape, *, name: str, like: Value) -> Value:
        """Joins leaves into a value of `shape`'s nesting; the leaves' own shapes count."""

    def clone(
        self, operation: Operation, operands: Sequence[Value], shapes: Sequence[Shape], *, name: str
    ) -> Sequence[Value]:
        """Makes a copy of an operation on other operands with other result shapes; returns its results.

        Attributes, called functions, metadata and location stay.
        """


@runtime_checkable
class Module(Protocol):
    """A whole module. Passes edit a clone; `text` prints it."""

    @property
    def dialect(self) -> Dialect:
        """Returns which dialect it is in."""

    @property
    def name(self) -> str:
        """Returns the module's name."""

    @property
    def functions(self) -> Sequence[Function]:
        """Returns every function, called ones and regions included, callees first in HLO."""

    def operations(self) -> Iterator[Operation]:
        """Yields every operation of every function, in the order of `functions`; a function's are a snapshot."""

    def values(self) -> Iterator[Value]:
        """Yields every value of every function, in the order of `functions`; a function's are a snapshot."""

    @property
    def entry(self) -> Function:
        """Returns the entry; raises DiagnosticError for a fragment without one."""

    def clone(self) -> Module:
        """Returns an independent copy."""

    def text(self) -> str:
        """Prints the module: untouched HLO byte for byte, StableHLO as MLIR prints it."""

    def before(self, operation: Operation) -> Builder:
        """Returns a builder that makes operations before one."""

    def after(self, value: Value) -> Builder:
        """Returns a builder right after a value's definition, after all parameters for a parameter."""

    def at_end(self, function: Function) -> Builder:
        """Returns a builder after all operations, before the terminator."""

    @property
    def entry_layout(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Returns the shapes of the entry's parameters and results with the layouts callers see.

        HLO: entry_computation_layout where it is written, else the shapes of parameters and
        ROOT. StableHLO: main's arguments and results.
        """

    def set_entry_layout(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes the layouts callers see, one shape per parameter and result; types stay as they are.

        HLO: entry_computation_layout. StableHLO: the annotations of main's arguments and results.
        """

    @property
    def aliases(self) -> Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        """Returns (result index path, parameter number, parameter index path) of every alias.

        HLO: input_output_alias; StableHLO: `tf.aliasing_output` on main's arguments.
        """

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns the module's attributes as text, by name."""
