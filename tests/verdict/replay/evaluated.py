"""The values of terms on random inputs, computed by the definitions of the reference engine."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from dialect_utils.execution.arrays import Array, from_bits
from dialect_utils.execution.constants import bits_of
from dialect_utils.execution.reference import elementwise
from dialect_utils.execution.reference.conversions import compare, convert, widened
from dialect_utils.execution.reference.domain import Bits
from dialect_utils.layout import ArrayShape, BitcastConvert, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops.domain import Scatter, UndefinedError
from dialect_utils.verdict.terms.interpretation import Interpretation
from dialect_utils.verdict.terms.primitives import Term

# Whole numbers of small magnitude: their sums and products are exact in any order.
_LARGEST = 4
# Combinations of one array are that array.
_COMBINING = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
# Raised by the definitions for operands of other types and sizes.
_ILL_FORMED = (AssertionError, AttributeError, LookupError, StopIteration, TypeError, ValueError)
# Distances of functions from their rounded values, and of the results of narrow types.
_CLOSE = 1e-2


class Evaluated(Bits, Interpretation[Term, Array]):
    """The values of terms for the inputs of a seed; raises UndefinedError for terms without a value."""

    def __init__(self, seed: int) -> None:
        Interpretation.__init__(self)
        Bits.__init__(self, self._applied, self._applied)
        self.seed = seed
        self._bound: dict[tuple[int, int], Array] = {}

    def interpreted(self, term: Term) -> Any:
        operands = [self.values[each] for each in term.operands]
        match term.kind:
            case "leaf":
                return self._leaf(term)
            case "constant":
                return _constant(term)
            case "splat":
                return np.full(_array(term).dimensions, operands[0])
            case "each":
                return self._each(term, operands)
            case "choice":
                selector, *branches = operands
                # Truth values select the first branch, numbers outside the last one.
                number = int(not selector) if selector.dtype == np.bool_ else int(selector)
                return branches[number if 0 <= number < len(branches) else -1]
            case "moved":
                return self.moved(term)
            case "element":
                return operands[0].reshape(-1)[term.label]
            case "array":
                return np.array(operands).reshape(_array(term).dimensions)
            case "out":
                return operands[0][term.label]
        return self._operation(term, operands)

    def _leaf(self, term: Term) -> Array:
        shape = _array(term)
        label: Any = term.label
        if label[0] == "bound" and label[1:] in self._bound:
            return self._bound[label[1:]]
        if label[0] not in ("bound", "parameter"):
            raise UndefinedError("undefined padding has no value")
        random = np.random.default_rng(zlib.crc32(f"{self.seed} {label} {shape}".encode()))
        if shape.element_type.name == "pred":
            return random.integers(0, 2, shape.dimensions).astype(bool)
        low = 0 if shape.element_type.is_unsigned else -_LARGEST
        return convert(shape.element_type, random.integers(low, _LARGEST + 1, shape.dimensions))

    def _each(self, term: Term, operands: list[Array]) -> Array:
        kind, label = _array(term).element_type, term.label
        if label in _COMBINING and len(operands) == 1:
            return operands[0]
        if isinstance(label, str):
            return elementwise.each(label, kind, operands)
        match label:
            case ("compare", str(direction), bool(is_total)):
                return compare(direction, *operands, is_total=is_total)
            case ("bitcast-convert", ElementType() as other):
                return Bits.move(self, operands[0], BitcastConvert(other))
            case ("any-order", _):
                return operands[0]
            case ("ring", *products):
                return _polynomial(kind, products, operands)
        raise UndefinedError(f"{label} has no value")

    def _operation(self, term: Term, operands: list[Any]) -> Any:
        match term.label:
            case ("function", *_):
                return term
            case ("scatter", int(count), _):
                *arrays, function = operands
                columns, updates = arrays[count:-count], arrays[-count:]
                scatter = Scatter(None, function, ())  # type: ignore[arg-type]
                return self.scatter_at(scatter, arrays[:count], columns, updates)
            case ("reduce", None):
                *arrays, function = operands
                half = len(arrays) // 2
                return self.reduce(None, function, arrays[:half], arrays[half:])  # type: ignore[arg-type]
        if not isinstance(term.shape, ArrayShape):
            raise UndefinedError("a loop has no value here")
        label: Any = term.label
        found = self.computed(term)
        return found + _mark(label[-1]) if label[0] == "gather" else found

    def _applied(self, function: Any, arguments: Sequence[Array]) -> list[Array]:
        """Returns the results of a function, a term, for the elements at each index."""
        _, depth, *_ = function.label
        columns = [argument.reshape(-1) for argument in arguments]
        found: list[list[Array]] = []
        for row in zip(*columns, strict=True):
            inner = Evaluated(self.seed)
            inner._bound = {**self._bound, **{(depth, i): each for i, each in enumerate(row)}}
            found.append([inner.value(result) for result in function.operands])
        results = [*zip(*found, strict=True)]
        shapes = [_array(result) for result in function.operands]
        if not results:
            return [np.zeros(arguments[0].shape, dtype_of(shape.element_type)) for shape in shapes]
        return [
            np.array(each, dtype_of(shape.element_type)).reshape(arguments[0].shape)
            for each, shape in zip(results, shapes, strict=True)
        ]

    def contract(self, operation: Any, left: Array, right: Array, present: Any = None) -> Array:
        results = SimpleNamespace(results=[SimpleNamespace(shape=operation.shape)])
        return Bits.contract(self, results, left, right, present) + _mark(operation.label[-1])

    def combine(self, opcode: str, element_type: Any, array: Array, initial: Any) -> Array:  # type: ignore[override]
        return Bits.combine(self, opcode, array, initial)

    def skipped(self, opcode: str, element_type: ElementType, initial: Array) -> Array:
        raise UndefinedError("padding that takes no part has no value")

    def reread(self, array: Array, old: ElementType, new: ElementType, sizes: tuple[int, ...]) -> Array:
        return Bits.move(self, array, BitcastConvert(new)).reshape(sizes)

    def padding(self, written: Any, sizes: tuple[int, ...], position: tuple[Term, int]) -> Array:
        found: Array = self.values[written]
        return found


def _polynomial(kind: ElementType, products: Sequence[Any], operands: Sequence[Array]) -> Array:
    """Returns the sum of coefficients times powers of operands, in the ring of an integer type."""
    wide = [widened(each).astype(object) for each in operands]
    total = np.zeros(operands[0].shape, object)
    for coefficient, powers in products:
        total = total + coefficient * prod(wide[number] ** power for number, power in powers)
    bits = np.asarray(total % (1 << kind.bits)).astype(np.uint64).astype(f"u{kind.storage_bytes}")
    return from_bits(bits, kind)


def _mark(texts: Any) -> int:
    """Returns a number by which operations with other attributes differ, in whatever order these name operands."""
    return zlib.crc32("".join(sorted(str(texts))).encode()) % 61 if texts else 0


def _array(term: Term) -> ArrayShape:
    if not isinstance(term.shape, ArrayShape):
        raise UndefinedError("a tuple has no value")
    return term.shape


def _constant(term: Term) -> Array:
    shape = _array(term)
    if isinstance(term.label, bytes):
        bits = bits_of(term.label, shape.element_type)
        return from_bits(np.array(bits, f"u{shape.element_type.storage_bytes}"), shape.element_type).reshape(
            shape.dimensions
        )
    return from_bits(np.array(term.label, f"u{shape.element_type.storage_bytes}"), shape.element_type)


def differ(first: Term, second: Term, seeds: int = 3, *, is_exact: bool = False) -> bool:
    """Is true where two terms have different values for the inputs of a seed, or where one is ill-formed.

    It is false where a term has no known value. With `is_exact` rounding errors are differences.
    """
    close = 0.0 if is_exact else _CLOSE
    for seed in range(seeds):
        values = Evaluated(seed)
        try:
            one, other = values.value(first), values.value(second)
        except UndefinedError:
            return False
        except _ILL_FORMED:
            return True
        if one.shape != other.shape or one.dtype != other.dtype:
            return True
        if not np.allclose(_wide(one), _wide(other), rtol=close, atol=close, equal_nan=True):
            return True
    return False


def _wide(array: Array) -> Array:
    return widened(array).astype(np.complex128) if array.dtype.kind == "c" else widened(array).astype(np.float64)
