"""The widened twin of a module: every float in 64 bits, and the roundings of the original put back with noise.

The twin's results differ from run to run by as much as the original's own rounding error can make
them differ: each operation that rounds is followed by a rounding to the type that the original has
there, of a value that is moved by less than half a unit in the last place. What is exact stays exact.
The operands of sums are moved by more, as the order of so many terms can. The noise is main's last
argument, numbers from -1 to 1 of which every operation reads others.

Only the worker imports this module. Works on StableHLO, which XLA makes of HLO, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import Any

from dialect_utils.ops import Trait, has, hlo_opcode, named
from dialect_utils.stablehlo.bindings import context, dimension_numbers, ir
from dialect_utils.stablehlo.rewrites.editing import binary, inline_calls, main_function, make, slice_from, splat

# Bits of the significand, the hidden one included; narrower types have at least this.
_PRECISIONS = {"f64": 53, "f32": 24, "bf16": 8, "f16": 11}
_SMALLEST_PRECISION = 3
# What bits are read by, or what knows only the types it has.
_OPAQUE = named("bitcast-convert custom-call rng-bit-generator rng infeed")
_CONSTANT = "stablehlo.constant"
_DOT = "dot_dimension_numbers"
# Sums of as many terms as the last dimension of their first operand has elements.
_SOLVED = named("fft cholesky triangular-solve")
# Operations read the noise from different places.
_PLACES = 1009


def widen(program: str | bytes) -> tuple[str, int]:
    """Returns the widened twin of a StableHLO module, and how much noise it takes.

    Raises what MLIR raises where there is none.
    """
    with context(allow_unregistered=False), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        twin = _Twin(module, main_function(module))
        twin.make()
        module.operation.verify()
        return str(module), twin.noise.type.shape[0]


@dataclass(frozen=True, slots=True)
class _Written:
    """An operation and the types that its operands and results have in the original."""

    operation: Any
    operands: Sequence[Any]
    results: Sequence[Any]


@dataclass(slots=True)
class _Twin:
    module: Any
    main: Any
    noise: Any = None
    random: random.Random = field(default_factory=lambda: random.Random(0))

    def make(self) -> None:
        """Widens the module in place."""
        functions = [each for each in self.module.body.operations if each.operation.name == "func.func"]
        written = [each for function in functions for each in _walk(function)]
        block = self.main.regions[0].blocks[0]
        arguments = list(block.arguments)
        self.noise = block.add_argument(_noise_type(written), ir.Location.unknown())
        for function in functions:
            if function.operation != self.main.operation:
                for argument in function.regions[0].blocks[0].arguments:
                    argument.set_type(_wide(argument.type))
        for operation in written:
            self._set_types(operation)
        with ir.InsertionPoint.at_block_begin(block):
            for argument in arguments:
                self._widened_from_here(argument)
        for operation in written:
            self._rewrite(operation)
        for function in functions:
            _sign(function)

    def _set_types(self, written: _Written) -> None:
        """Widens results and the arguments of regions; constants and opaque operations stay as they are."""
        operation = written.operation
        if operation.name != _CONSTANT and not _is_opaque(operation):
            for result in operation.results:
                result.set_type(_wide(result.type))
        for region in operation.regions:
            for block in region:
                for argument in block.arguments:
                    argument.set_type(_wide(argument.type))

    def _widened_from_here(self, value: Any) -> None:
        """Makes all uses of a value use it in 64 bits."""
        if _wide(value.type) != value.type:
            users = [(use.owner, use.operand_number) for use in value.uses]
            converted = make("stablehlo.convert", [value], _wide(value.type))
            for owner, number in users:
                owner.operands[number] = converted

    def _rewrite(self, written: _Written) -> None:
        operation = written.operation
        if not operation.results and not operation.regions:
            return
        if "algorithm" in operation.attributes and operation.name == "stablehlo.dot_general":
            del operation.attributes["algorithm"]
        if operation.name == _CONSTANT or _is_opaque(operation):
            self._narrow_operands(written)
            with _after(operation):
                for result in operation.results:
                    self._widened_from_here(result)
            return
        terms = _terms(operation)
        if terms > 1 and self._sees_noise(operation):
            self._move_summands(written, terms)
        if _rounds(written):
            with _after(operation):
                for result, kind in zip(operation.results, written.results, strict=True):
                    self._round(result, kind, terms)

    def _narrow_operands(self, written: _Written) -> None:
        with ir.InsertionPoint(written.operation):
            for number, kind in enumerate(written.operands):
                value = written.operation.operands[number]
                if value.type != kind:
                    written.operation.operands[number] = make("stablehlo.convert", [value], kind)

    def _round(self, value: Any, kind: Any, terms: int) -> None:
        """Makes all uses of a value use what it is after a rounding to its type in the original.

        A sum of n terms of one sign has been rounded n times on its way, by about sqrt(n) / 6 units.
        """
        if not _is_float(kind):
            return
        users = [(use.owner, use.operand_number) for use in value.uses]
        # A sum may always be rounded to a neighbour. Other results move by less than half a unit in the last
        # place: what the type holds is rounded to itself.
        least = _unit(kind) / 4 if _wide(kind) != kind else _unit(kind)
        relative = max(_unit(kind), _sum_unit(value.owner)(kind) * sqrt(terms) / 4) if terms > 1 else least
        moved = self._moved(value, relative) if self._sees_noise(value.owner) else value
        if _wide(kind) != kind:
            moved = make("stablehlo.convert", [make("stablehlo.convert", [moved], kind)], value.type)
        for owner, number in users:
            owner.operands[number] = moved

    def _move_summands(self, written: _Written, terms: int) -> None:
        """Moves the operands of a sum: parts of it may be rounded, and so may each step of n terms.

        Steps of terms of any sign round by about n / 2 units of a term.
        """
        operation = written.operation
        unit = _sum_unit(operation)
        count = 2 if operation.name in ("stablehlo.dot_general", "stablehlo.convolution") else len(operation.results)
        with ir.InsertionPoint(operation):
            for number in range(count):
                value, kind = operation.operands[number], written.operands[number]
                if _is_float(kind):
                    operation.operands[number] = self._moved(value, max(_unit(kind), unit(kind) * sqrt(terms) / 2))

    def _sees_noise(self, operation: Any) -> bool:
        while operation.name != "func.func":
            operation = operation.parent
        return bool(operation == self.main.operation)

    def _moved(self, value: Any, relative: float) -> Any:
        """Returns a value times 1 + noise, the noise at most `relative`."""
        kind = value.type
        count = prod(kind.shape)
        start = self.random.randrange(_PLACES)
        noise = make(
            "stablehlo.reshape",
            [slice_from(self.noise, start, count)],
            ir.RankedTensorType.get(kind.shape, ir.F64Type.get()),
        )
        noise = binary("multiply", noise, splat(noise.type, relative))
        if noise.type != kind:
            noise = make("stablehlo.convert", [noise], kind)
        return binary("add", value, binary("multiply", value, noise))


def _sign(function: Any) -> None:
    """Gives a function the type that its arguments and returned values have; attributes of both are dropped."""
    block = function.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operation.operands
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], [value.type for value in returned])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    for name in ("res_attrs", "arg_attrs"):
        if name in function.attributes:
            del function.attributes[name]


def _walk(main: Any) -> Iterator[_Written]:
    """Yields all operations of a function in order, those of regions after what holds them."""
    pending = [block for region in main.regions for block in region]
    while pending:
        block = pending.pop(0)
        for operation in block.operations:
            found = operation.operation
            yield _Written(found, [v.type for v in found.operands], [v.type for v in found.results])
            pending += [inner for region in found.regions for inner in region]


def _noise_type(written: Sequence[_Written]) -> Any:
    sizes = [
        prod(kind.shape)
        for each in written
        for kind in (*each.operands, *each.results)
        if isinstance(kind, ir.RankedTensorType) and kind.has_static_shape
    ]
    return ir.RankedTensorType.get([max(sizes, default=1) + _PLACES], ir.F64Type.get())


def _after(operation: Any) -> Any:
    """Returns the insertion point after an operation."""
    return ir.InsertionPoint.after(operation)


def _wide(kind: Any) -> Any:
    """Returns a type with its floats in 64 bits."""
    if isinstance(kind, ir.TupleType):
        return ir.TupleType.get_tuple([_wide(kind.get_type(i)) for i in range(kind.num_types)])
    if not isinstance(kind, ir.RankedTensorType) or not _is_float(kind):
        return kind
    double = ir.F64Type.get()
    element = ir.ComplexType.get(double) if isinstance(kind.element_type, ir.ComplexType) else double
    return ir.RankedTensorType.get(kind.shape, element, kind.encoding)


def _is_float(kind: Any) -> bool:
    if not isinstance(kind, ir.RankedTensorType):
        return False
    return isinstance(kind.element_type, (ir.FloatType, ir.ComplexType))


def _precision(kind: Any) -> int:
    element = kind.element_type
    part = element.element_type if isinstance(element, ir.ComplexType) else element
    return _PRECISIONS.get(str(part), _SMALLEST_PRECISION)


def _unit(kind: Any) -> float:
    """Returns a unit in the last place of 1."""
    return float(2.0 ** (1 - _precision(kind)))


def _sum_unit(operation: Any) -> Callable[[Any], float]:
    """Returns what a unit in the last place is where an operation adds up: products in 32 bits at least."""
    widest = _PRECISIONS["f32"] if has(hlo_opcode(operation.name), Trait.CONTRACTS) else 0
    return lambda kind: float(2.0 ** (1 - max(_precision(kind), widest)))


def _is_opaque(operation: Any) -> bool:
    dialect = operation.name.partition(".")[0]
    return dialect not in ("stablehlo", "func") or hlo_opcode(operation.name) in _OPAQUE


def _is_applied(operation: Any) -> bool:
    """Is true inside a region that is applied to elements."""
    parent = operation.parent
    while parent is not None and parent.name != "func.func":
        if has(hlo_opcode(parent.name), Trait.APPLIES):
            return True
        parent = parent.parent
    return False


def _rounds(written: _Written) -> bool:
    """Is true where the original rounds results: arithmetic, sums, conversions to narrower types."""
    operation = written.operation
    opcode = hlo_opcode(operation.name)
    if _is_applied(operation):
        return False
    if opcode == "convert":
        return _wide(written.results[0]) != written.results[0] and not _widens(*written.operands, *written.results)
    arithmetic = Trait.ROUNDS, Trait.CONTRACTS, Trait.ENGINE_DEFINED
    return any(has(opcode, trait) for trait in arithmetic) or _terms(operation) > 1


def _widens(source: Any, result: Any) -> bool:
    return _is_float(source) and _precision(source) <= _precision(result) and str(source.element_type) != "f16"


def _terms(operation: Any) -> int:
    """Returns how many products or elements one element of a sum adds up; 0 for what sums nothing."""
    opcode = hlo_opcode(operation.name)
    if opcode == "dot":
        contracting = dimension_numbers(_DOT, operation.attributes[_DOT], "lhs_contracting_dimensions") or ()
        return int(prod(operation.operands[0].type.shape[i] for i in contracting))
    if opcode == "convolution":
        return int(prod(operation.operands[1].type.shape))
    if opcode in _SOLVED:
        return int(operation.operands[0].type.shape[-1])
    if not has(opcode, Trait.COMBINES) or not any(_adds(region) for region in operation.regions):
        return 0
    if opcode == "reduce-window":
        return int(prod(operation.attributes["window_dimensions"]))
    elements: int = max(prod(value.type.shape) for value in operation.operands)
    return elements // max(1, prod(operation.results[0].type.shape)) if opcode == "reduce" else elements


def _adds(region: Any) -> bool:
    names = (operation.operation.name for block in region for operation in block.operations)
    return any(has(hlo_opcode(name), Trait.ROUNDS) for name in names)
