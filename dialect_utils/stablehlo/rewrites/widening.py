"""The widened form of a module: every float in 64 bits, and each rounding of the original added again with noise.

Results differ from run to run by as much as the original's rounding error: after each operation that rounds, its value
moves by less than half a unit in the last place and is rounded to the original's type. Exact values stay exact. The
operands of a sum move by more, as far as another order of so many terms can. The noise is main's last argument,
numbers from -1 to 1, of which each operation reads others. XLA converts HLO to StableHLO first.

The unrounded form is in 64 bits, too, but without noise and without the original's roundings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import Any

from dialect_utils.ops import SOLVED, Trait, has, hlo_opcode, named
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.stablehlo.bindings import context, dimension_numbers, ir
from dialect_utils.stablehlo.rewrites.editing import (
    applied_functions,
    binary,
    inline_calls,
    main_function,
    make,
    redirect,
    set_signature,
    slice_from,
    splat,
    uses_of,
)

# Bits of the significand, the hidden one included; narrower types have at least 3.
_PRECISIONS = {"f64": 53, "f32": 24, "bf16": 8, "f16": 11}
_SMALLEST_PRECISION = 3
# Operations that read bits, or that exist only for their own types.
_OPAQUE = named("bitcast-convert custom-call rng-bit-generator rng infeed")
_CONSTANT, _DOT_GENERAL = "stablehlo.constant", "stablehlo.dot_general"
_DOT = "dot_dimension_numbers"
_PART = "stablehlo.get_tuple_element"
# XLA's conversion of HLO leaves this operation in its own dialect.
_COPY = "mhlo.copy"
# Sums of as many terms as the last dimension of their first operand has elements.
_SOLVED = SOLVED
# Functions whose exact rounding is the engine's choice.
_FUNCTIONS = USES[Choice.FUNCTION_ROUNDING]
# The number of offsets at which operations read the noise.
_OFFSETS = 1009


def widen(program: str | bytes) -> tuple[str, int]:
    """Returns the widened form of a StableHLO module and its number of noise elements; raises MLIR's errors."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        widening = _Widening(module, main_function(module))
        widening.apply()
        module.operation.verify()
        return str(module), widening.noise.type.shape[0]


def unround(program: str | bytes) -> tuple[str]:
    """Returns a StableHLO module with every float in 64 bits and the module's own inputs; raises MLIR's errors."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        _Unrounding(module, main_function(module)).apply()
        module.operation.verify()
        return (str(module),)


@dataclass(frozen=True, slots=True)
class _Written:
    """An operation and the types that its operands and results have in the original."""

    operation: Any
    operands: Sequence[Any]
    results: Sequence[Any]


@dataclass(slots=True)
class _Widening:
    module: Any
    main: Any
    noise: Any = None
    random: random.Random = field(default_factory=lambda: random.Random(0))

    def apply(self) -> None:
        """Widens the module in place."""
        functions = [each for each in self.module.body.operations if each.operation.name == "func.func"]
        applied = applied_functions(self.module)
        functions = [each for each in functions if each.name.value not in applied]
        written = [each for function in functions for each in _walk(function)]
        block = self.main.regions[0].blocks[0]
        arguments = list(block.arguments)
        self._add_noise(block, written)
        for function in functions:
            if function.operation != self.main.operation:
                _widen_types(function.regions[0].blocks[0].arguments)
        for each in written:
            self._set_types(each.operation)
        with ir.InsertionPoint.at_block_begin(block):
            for argument in arguments:
                _widen_uses(argument)
        for each in written:
            self._rewrite(each)
        for function in functions:
            set_signature(function, "res_attrs", "arg_attrs")

    def _add_noise(self, block: Any, written: Sequence[_Written]) -> None:
        self.noise = block.add_argument(_noise_type(written), ir.Location.unknown())

    def _set_types(self, operation: Any) -> None:
        """Widens results and the arguments of regions; constants and opaque operations keep their types."""
        if operation.name != _CONSTANT and not _is_opaque(operation):
            _widen_types(operation.results)
        for region in operation.regions:
            for block in region:
                _widen_types(block.arguments)

    def _rewrite(self, written: _Written) -> None:
        operation = written.operation
        if not operation.results and not operation.regions:
            return
        if "algorithm" in operation.attributes and operation.name == _DOT_GENERAL:
            del operation.attributes["algorithm"]
        if operation.name == _CONSTANT or _is_opaque(operation):
            if _is_algorithm(operation):
                self._move_matrices(written, range(len(operation.operands)))
            _narrow_operands(written)
            with ir.InsertionPoint.after(operation):
                for result in operation.results:
                    _widen_uses(result)
            return
        terms = _terms(operation)
        if hlo_opcode(operation.name) in _SOLVED:
            self._move_matrices(written, range(len(operation.results)))
        elif terms > 1 and self._sees_noise(operation):
            self._move_summands(written, terms)
        if _rounds(written):
            with ir.InsertionPoint.after(operation):
                for result, kind in zip(operation.results, written.results, strict=True):
                    self._round(result, kind, terms)

    def _round(self, value: Any, kind: Any, terms: int) -> None:
        """Makes all uses of a value use it after a rounding to its type in the original.

        A sum of n terms of one sign has been rounded n times before, by about sqrt(n) / 6 units.
        """
        if not _is_float(kind):
            return
        uses = uses_of(value)
        # A sum may always round to a neighbor. Other results move by less than half a unit in the last place, so that
        # a number of the type rounds to itself.
        # Engines round functions such as tanh by about a unit, and otherwise in the rest of a vector.
        is_exact = _wide(kind) != kind and hlo_opcode(value.owner.name) not in _FUNCTIONS
        least = _unit(kind) / 4 if is_exact else _unit(kind)
        relative = max(_unit(kind), _sum_unit(value.owner, kind) * sqrt(terms) / 4) if terms > 1 else least
        moved = self._moved(value, relative) if self._sees_noise(value.owner) else value
        if _wide(kind) != kind:
            moved = make("stablehlo.convert", [make("stablehlo.convert", [moved], kind)], value.type)
        redirect(uses, moved)

    def _move_summands(self, written: _Written, terms: int) -> None:
        """Moves the operands of a sum: parts of it may be rounded, and so may each step of n terms.

        Steps of terms of any sign round by about n / 2 units of a term.
        """
        operation = written.operation
        count = 2 if operation.name in (_DOT_GENERAL, "stablehlo.convolution") else len(operation.results)
        with ir.InsertionPoint(operation):
            for number in range(count):
                value, kind = operation.operands[number], written.operands[number]
                if _is_float(kind):
                    relative = max(_unit(kind), _sum_unit(operation, kind) * sqrt(terms) / 2)
                    operation.operands[number] = self._moved(value, relative)

    def _move_matrices(self, written: _Written, numbers: Sequence[int]) -> None:
        """Moves the matrices that an algorithm of the engine's choice transforms, factors or solves.

        A stable algorithm has the exact result of matrices whose elements moved by a unit of the norm of their matrix.
        """
        operation = written.operation
        if not self._sees_noise(operation):
            return
        dimensions = 1 if hlo_opcode(operation.name) == "fft" else 2
        with ir.InsertionPoint(operation):
            for number in numbers:
                value, kind = operation.operands[number], written.operands[number]
                if _is_float(kind) and len(kind.shape) >= dimensions and value.type == _wide(kind):
                    operation.operands[number] = self._moved(value, _unit(kind), _norms(value, dimensions))

    def _sees_noise(self, operation: Any) -> bool:
        if self.noise is None:
            return False
        while operation.name != "func.func":
            operation = operation.parent
        return bool(operation == self.main.operation)

    def _moved(self, value: Any, relative: float, norms: Any = None) -> Any:
        """Returns a value with noise added, at most `relative` times the value or, if they are given, its norms."""
        kind = value.type
        noise = slice_from(self.noise, self.random.randrange(_OFFSETS), prod(kind.shape))
        noise = make("stablehlo.reshape", [noise], ir.RankedTensorType.get(kind.shape, ir.F64Type.get()))
        noise = binary("multiply", noise, splat(noise.type, relative))
        if norms is not None:
            noise = binary("multiply", norms, noise)
        if noise.type != kind:
            noise = make("stablehlo.convert", [noise], kind)
        return binary("add", value, noise if norms is not None else binary("multiply", value, noise))


@dataclass(slots=True)
class _Unrounding(_Widening):
    """The widening of a module that keeps 64 bits after each operation."""

    def _add_noise(self, block: Any, written: Sequence[_Written]) -> None:
        pass

    def _round(self, value: Any, kind: Any, terms: int) -> None:
        pass


def _widen_types(values: Sequence[Any]) -> None:
    for value in values:
        value.set_type(_wide(value.type))


def _widen_uses(value: Any) -> None:
    """Makes all uses of a value use it in 64 bits."""
    if _wide(value.type) != value.type:
        uses = uses_of(value)
        redirect(uses, _widened(value))


def _widened(value: Any) -> Any:
    """Returns a value in 64 bits; a tuple, such as that of a custom call, is taken apart and made again."""
    kind = value.type
    if not isinstance(kind, ir.TupleType):
        return value if _wide(kind) == kind else make("stablehlo.convert", [value], _wide(kind))
    number = ir.IntegerType.get_signless(32)
    parts = [
        make(_PART, [value], kind.get_type(i), {"index": ir.IntegerAttr.get(number, i)}) for i in range(kind.num_types)
    ]
    return make("stablehlo.tuple", list(map(_widened, parts)), _wide(kind))


def _narrow_operands(written: _Written) -> None:
    """Converts the operands of an operation to their types in the original."""
    with ir.InsertionPoint(written.operation):
        for number, kind in enumerate(written.operands):
            value = written.operation.operands[number]
            if value.type != kind:
                written.operation.operands[number] = make("stablehlo.convert", [value], kind)


def _walk(function: Any) -> Iterator[_Written]:
    """Yields all operations of a function in order, those of regions after the operation that holds them."""
    pending = [block for region in function.regions for block in region]
    while pending:
        for operation in pending.pop(0).operations:
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
    return ir.RankedTensorType.get([max(sizes, default=1) + _OFFSETS], ir.F64Type.get())


def _wide(kind: Any) -> Any:
    """Returns a type with its floats in 64 bits."""
    if isinstance(kind, ir.TupleType):
        return ir.TupleType.get_tuple([_wide(kind.get_type(i)) for i in range(kind.num_types)])
    if not _is_float(kind):
        return kind
    double = ir.F64Type.get()
    element = ir.ComplexType.get(double) if isinstance(kind.element_type, ir.ComplexType) else double
    return ir.RankedTensorType.get(kind.shape, element, kind.encoding)


def _is_float(kind: Any) -> bool:
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, (ir.FloatType, ir.ComplexType))


def _precision(kind: Any) -> int:
    element = kind.element_type
    part = element.element_type if isinstance(element, ir.ComplexType) else element
    return _PRECISIONS.get(str(part), _SMALLEST_PRECISION)


def _unit(kind: Any) -> float:
    """Returns the unit in the last place of 1."""
    return float(2.0 ** (1 - _precision(kind)))


def _sum_unit(operation: Any, kind: Any) -> float:
    """Returns the unit in the last place of a sum; sums of products have at least 32 bits."""
    least = _PRECISIONS["f32"] if has(hlo_opcode(operation.name), Trait.CONTRACTS) else 0
    return float(2.0 ** (1 - max(_precision(kind), least)))


def _is_opaque(operation: Any) -> bool:
    dialect = operation.name.partition(".")[0]
    if operation.name == _COPY:
        return False
    return dialect not in ("stablehlo", "func") or hlo_opcode(operation.name) in _OPAQUE


def _is_algorithm(operation: Any) -> bool:
    """Is true for a call of linear algebra, which has several algorithms; the others that run choose elements."""
    if hlo_opcode(operation.name) != "custom-call":
        return False
    return not ir.StringAttr(operation.attributes["call_target_name"]).value.lower().endswith("topk")


def _norms(value: Any, count: int) -> Any:
    """Returns the Frobenius norm of each array of the last `count` dimensions, at each element."""
    shape, double = value.type.shape, ir.F64Type.get()
    size = make("stablehlo.abs", [value], ir.RankedTensorType.get(shape, double))
    kept, summed = [*range(len(shape) - count)], [*range(len(shape) - count, len(shape))]
    sides = (
        f"{side}_{role}_dimensions = {each}"
        for role, each in (("batching", kept), ("contracting", summed))
        for side in ("lhs", "rhs")
    )
    numbers = {_DOT: ir.Attribute.parse(f"#stablehlo.dot<{', '.join(sides)}>")}
    squares = make(_DOT_GENERAL, [size, size], ir.RankedTensorType.get(shape[: len(kept)], double), numbers)
    norms = make("stablehlo.sqrt", [squares], squares.type)
    return make(
        "stablehlo.broadcast_in_dim", [norms], size.type, {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(kept)}
    )


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
    """Returns the number of products or elements that one element of a sum adds up; 0 for other operations."""
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
