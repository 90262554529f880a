"""Floating-point operations, transcendental functions and bytes accessed, as XLA's HloCostAnalysis counts them.

The rules are those of xla/service/hlo_cost_analysis.cc: an elementwise operation is one operation an element, a product
and a sum are two, a fusion accesses its operands and results only, and the body of a loop counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import gcd, prod
from typing import NamedTuple

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import Trait, by_opcode, has
from dialect_utils.ops.control import calls_gpu_library
from dialect_utils.ops.window import WindowDimension, classify, parse_labels, parse_window

_MULTIPLY_ADD = 2
_POINTER_BYTES = 8
# A fusion reads a constant of more elements from memory.
_IMMEDIATE_ELEMENTS = 8
# Positions of a window are counted one by one up to this number.
_MOST_STEPS = 1 << 16
# The multiplications and additions of real numbers in one product of complex numbers.
_COMPLEX_PRODUCT = 4


class Cost(NamedTuple):
    """Numbers of floating-point operations, transcendental functions and bytes accessed."""

    flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0

    def times(self, count: int) -> Cost:
        """Returns the cost of `count` executions."""
        return Cost(*(each * count for each in self))


_NOTHING = Cost()


def total(costs: Iterable[Cost]) -> Cost:
    """Returns the sum of costs."""
    return Cost(*map(sum, zip(*costs, strict=True)))


class CostModel:
    """The costs of operations, with the bytes of an array's buffer as `size` tells them.

    Costs of functions are computed once, and the bytes that they access apart from their arithmetic: a fusion and an
    operation that applies a function to elements access no memory inside. The module has to be HLO.
    """

    def __init__(self, size: Callable[[ArrayShape], int]) -> None:
        self._size = size
        self._arithmetic_of: dict[Function, Cost] = {}
        self._bytes_of: dict[Function, int] = {}

    def of_operation(self, operation: Operation) -> Cost:
        """Returns the cost of one operation; of custom calls only the bytes of library calls are known."""
        if _is_free(operation):
            return _NOTHING
        return self._arithmetic(operation)._replace(bytes_accessed=self.bytes_accessed(operation))

    def bytes_accessed(self, operation: Operation) -> int:
        """Returns the bytes that one operation reads and writes."""
        opcode = operation.opcode
        if _is_free(operation):
            return 0
        if opcode == "fusion":
            body = operation.called[0]
            read = sum(self._read_bytes(parameter) for parameter in body.parameters)
            constants = sum(
                self._of_shape(each.results[0].shape)
                for each in body.operations
                if each.opcode == "constant" and each.results[0].shape.element_count > _IMMEDIATE_ELEMENTS
            )
            return read + constants + self._written_bytes(body.results[0])
        if opcode == "conditional":
            return max(map(self._bytes_in, operation.called), default=0)
        if has(opcode, Trait.CONTROL_FLOW):
            return sum(map(self._bytes_in, operation.called))
        return self._bytes(operation)

    def _bytes_in(self, function: Function) -> int:
        """Returns the bytes that the operations of a function access."""
        found = self._bytes_of.get(function)
        if found is None:
            found = self._bytes_of[function] = sum(map(self.bytes_accessed, function.operations))
        return found

    def _arithmetic_in(self, function: Function) -> Cost:
        """Returns the arithmetic of the operations of a function."""
        found = self._arithmetic_of.get(function)
        if found is None:
            found = self._arithmetic_of[function] = total(map(self._arithmetic, function.operations))
        return found

    def _arithmetic(self, operation: Operation) -> Cost:
        opcode = operation.opcode
        if _is_free(operation) or opcode == "copy":
            return _NOTHING
        if has(opcode, Trait.ELEMENTWISE) or opcode == "bitcast-convert":
            elements = operation.results[0].shape.element_count
            return Cost(transcendentals=elements) if has(opcode, Trait.TRANSCENDENTAL) else Cost(elements)
        # A scan is a loop over its body, whose values stay inside.
        if opcode in ("fusion", "scan"):
            return self._arithmetic_in(operation.called[0])
        if opcode == "conditional":
            branches = [_NOTHING, *map(self._arithmetic_in, operation.called)]
            return Cost(max(each.flops for each in branches), max(each.transcendentals for each in branches))
        if has(opcode, Trait.CONTROL_FLOW):
            return total(map(self._arithmetic_in, operation.called))
        rule = _RULES.get(opcode)
        return rule(operation) if rule is not None else self._of_applied(operation)

    def _of_applied(self, operation: Operation) -> Cost:
        """Returns the arithmetic of a function that is applied to elements, 0 for operations without one."""
        count = _applications(operation)
        if count is None:
            return _NOTHING
        functions = map(self._arithmetic_in, operation.called)
        return total(each.times(times) for each, times in zip(functions, count, strict=True))

    def _bytes(self, operation: Operation) -> int:
        """Returns the bytes of the results and operands; some operations access parts of them."""
        if operation.opcode == "tuple":
            return _POINTER_BYTES * len(operation.operands)
        result = self._of_leaves(operation.results[0].shape)
        if operation.opcode == "custom-call":
            # It reads and writes whole arrays, apart from scratch memory (GpuHloCostAnalysis::HandleCustomCall).
            result -= sum(self._size(array) for array in operation.results[0].shape.arrays() if is_scratch(array))
        if operation.opcode == "infeed":
            return result
        if operation.opcode == "outfeed":
            return sum(self._of_leaves(each.shape) for each in operation.operands)
        sizes = [self._of_shape(each.shape) for each in operation.operands]
        rule = _BYTES.get(operation.opcode)
        return rule(result, sizes) if rule is not None else result + sum(sizes)

    def _written_bytes(self, root: Value) -> int:
        """Returns the bytes that a fusion writes: of an update in place, those of the update."""
        operation = root.operation
        if operation is not None and operation.opcode == "tuple":
            return sum(map(self._written_bytes, operation.operands))
        if operation is not None and operation.opcode == "dynamic-update-slice":
            return self._of_shape(operation.operands[1].shape)
        return self._of_leaves(root.shape)

    def _read_bytes(self, value: Value) -> int:
        """Returns the bytes that the operations in a fusion read of a parameter, or of an element of one."""
        if isinstance(value.shape, TupleShape):
            return sum(self._read_bytes(user.results[0]) for user in value.users)
        whole = self._of_shape(value.shape)
        read, is_shared = 0, False
        for user in value.users:
            # Users that read a part of the value only.
            match user.opcode:
                case "fusion":
                    inner = user.called[0].parameters
                    read += sum(self._read_bytes(inner[n]) for n, each in enumerate(user.operands) if each == value)
                case "slice":
                    read += self._of_shape(user.results[0].shape)
                case "dynamic-slice" if user.operands[0] == value:
                    read += self._of_shape(user.results[0].shape)
                case "dynamic-update-slice" if user.operands[0] == value:
                    pass
                case "broadcast" | "reshape":
                    read += whole
                case _ if not is_shared:
                    # Other operations share one read.
                    read, is_shared = read + whole, True
        return read

    def _of_shape(self, shape: Shape) -> int:
        if isinstance(shape, TupleShape):
            return _POINTER_BYTES * len(shape.elements)
        return self._size(shape) if isinstance(shape, ArrayShape) else 0

    def _of_leaves(self, shape: Shape) -> int:
        return self._size(shape) if isinstance(shape, ArrayShape) else sum(map(self._size, shape.arrays()))


def _is_free(operation: Operation) -> bool:
    """Is true for an operation that costs nothing, and for a custom call whose cost is unknown."""
    if operation.opcode == "custom-call":
        return not calls_gpu_library(operation.callee)
    return has(operation.opcode, Trait.FREE) or (operation.opcode == "transpose" and _is_renaming(operation))


def is_scratch(shape: ArrayShape) -> bool:
    """Is true for the shape of a library call's scratch memory: bytes in a row."""
    return shape.rank == 1 and shape.element_type.name in ("s8", "u8")


def _is_renaming(operation: Operation) -> bool:
    """Is true for a transpose that renumbers dimensions and moves no byte (TransposeIsBitcast)."""
    source, result = operation.operands[0].shape, operation.results[0].shape
    order = operation.ints("dimensions") or ()
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape):
        return False
    named_by = [order[dim] for dim in result.effective_layout.minor_to_major]
    return tuple(named_by) == source.effective_layout.minor_to_major


def _first_elements(shape: Shape) -> int:
    """Returns the elements of an array, or of the first array of a tuple."""
    return next((array.element_count for array in shape.arrays()), 0)


def _applications(operation: Operation) -> tuple[int, ...] | None:
    """Returns how often an operation applies each of its functions, None where it applies none."""
    operands = operation.operands
    # The elements to which a function is applied depend on the opcode.
    match operation.opcode:
        case "map":
            return (operation.results[0].shape.element_count,)
        case "reduce":
            return (_first_elements(operands[0].shape) - _first_elements(operation.results[0].shape),)
        case "reduce-window":
            return (_window_reductions(operation),)
        case "select-and-scatter":
            source = operands[1].shape.element_count
            selections = source * (prod(dim.size for dim in _window(operation, operands[0].shape)) - 1)
            return tuple(selections if role == "select" else source for role in operation.roles)
        case "scatter":
            return (_first_elements(operands[(len(operands) - 1) // 2 + 1].shape),)
    return None


def _window(operation: Operation, shape: Shape) -> tuple[WindowDimension, ...]:
    rank = shape.rank if isinstance(shape, ArrayShape) else 0
    return parse_window(operation.attribute("window"), rank)


def _window_reductions(operation: Operation) -> int:
    """Returns the reductions of a reduce-window: one less than the elements of a window for each window.

    A window that covers a whole dimension from each of its positions is a reduction and a broadcast.
    """
    window = _window(operation, operation.operands[0].shape)
    result = operation.results[0].shape
    results = _first_elements(result)
    wide = [number for number, dim in enumerate(window) if dim.size != 1]
    padded = [number for number, dim in enumerate(window) if dim.low or dim.high]
    if len(wide) == len(padded) == 1 and isinstance(result, ArrayShape):
        dim, size = window[wide[0]], result.dimensions[wide[0]]
        if dim.low == dim.high == size - 1 and dim.size == 2 * dim.low + 1:
            return results // size + size - 1
    return (prod(dim.size for dim in window) - 1) * results


def _dot(operation: Operation) -> Cost:
    left = operation.operands[0].shape
    assert isinstance(left, ArrayShape), left
    summed = prod(left.dimensions[dim] for dim in operation.ints("lhs_contracting_dims") or ())
    return Cost(_MULTIPLY_ADD * operation.results[0].shape.element_count * summed)


def _convolution(operation: Operation) -> Cost:
    left, result = operation.operands[0].shape, operation.results[0].shape
    assert isinstance(left, ArrayShape), left
    assert isinstance(result, ArrayShape), result
    labels = parse_labels(operation.attribute("dim_labels") or "")
    window = parse_window(operation.attribute("window"), len(labels.lhs_spatial))
    sizes = zip(
        (left.dimensions[dim] for dim in labels.lhs_spatial),
        (result.dimensions[dim] for dim in labels.out_spatial),
        strict=True,
    )
    groups, batch_groups = ((operation.ints(name) or (1,))[0] for name in ("feature_group_count", "batch_group_count"))
    products = prod(_positions(dim, *each) for dim, each in zip(window, sizes, strict=True))
    features = left.dimensions[labels.lhs_feature] // groups * result.dimensions[labels.out_feature]
    return Cost(_MULTIPLY_ADD * features * (left.dimensions[labels.lhs_batch] // batch_groups) * products)


def _positions(window: WindowDimension, inputs: int, outputs: int) -> int:
    """Returns the pairs of an element of the window and an output that read an element of the input.

    Output o and element k read position o * stride + k * rhs_dilation - low of the dilated input. Where both numbers
    are large and the dimension is none of a matrix product, the count is the bound without padding.
    """
    role, _ = classify(window, inputs, outputs)
    if role == "batch":
        return outputs
    steps = sorted(((window.size, window.rhs_dilation), (outputs, window.stride)))
    (few, step), (many, stride) = steps
    if few > _MOST_STEPS:
        return window.size * outputs // window.lhs_dilation
    last = (inputs - 1) * window.lhs_dilation
    return sum(_hits(many, stride, number * step - window.low, last, window.lhs_dilation) for number in range(few))


def _hits(count: int, stride: int, offset: int, last: int, dilation: int) -> int:
    """Returns for how many n below `count` n * stride + offset is in 0..last and divisible by `dilation`."""
    divisor = gcd(stride, dilation)
    if offset % divisor:
        return 0
    period = dilation // divisor
    # n * (stride / divisor) = -offset / divisor, modulo the period.
    residue = -(offset // divisor) * pow(stride // divisor, -1, period) % period
    low, high = max(0, -(offset // stride)), min(count - 1, (last - offset) // stride)
    first = low + (residue - low) % period
    return (high - first) // period + 1 if first <= high else 0


def _fft(operation: Operation) -> Cost:
    factors = prod(length.bit_length() - 1 for length in operation.ints("fft_length") or ())
    return Cost(_MULTIPLY_ADD * _COMPLEX_PRODUCT * factors * operation.operands[0].shape.element_count)


def _sort(operation: Operation) -> Cost:
    elements = operation.operands[0].shape.element_count
    return Cost(elements * max(elements - 1, 0).bit_length())


def _solve(operation: Operation) -> Cost:
    left, right = (each.shape for each in operation.operands[:2])
    assert isinstance(left, ArrayShape), left
    return Cost(_MULTIPLY_ADD * left.dimensions[-1] * right.element_count)


def _cholesky(operation: Operation) -> Cost:
    matrix = operation.operands[0].shape
    assert isinstance(matrix, ArrayShape), matrix
    return Cost(matrix.dimensions[-1] * matrix.element_count // 3)


def _all_reduce(operation: Operation) -> Cost:
    # HloCostAnalysis assumes two devices: each element is the sum of two.
    return Cost(sum(operand.shape.element_count for operand in operation.operands))


def _random(operation: Operation) -> Cost:
    return Cost(transcendentals=operation.results[0].shape.element_count)


# One rule for each opcode whose cost does not follow from the number of elements, or from the bytes, alone.
_RULES: Mapping[str, Callable[[Operation], Cost]] = by_opcode(
    {
        "all-reduce": _all_reduce,
        "all-reduce-start": _all_reduce,
        "cholesky": _cholesky,
        "convolution": _convolution,
        "dot": _dot,
        "fft": _fft,
        "ragged-dot": _dot,
        "scaled-dot": _dot,
        "rng": _random,
        "rng-bit-generator": _random,
        "sort": _sort,
        "triangular-solve": _solve,
    }
)


def _scattered(_: int, sizes: Sequence[int]) -> int:
    """Returns the bytes of a scatter: it reads and writes its operands where it has updates."""
    operands = (len(sizes) - 1) // 2
    return 3 * sum(sizes[operands + 1 :]) + sizes[operands]


# The bytes that an operation accesses, from those of its result and of each operand, where it does not access all.
_BYTES: Mapping[str, Callable[[int, Sequence[int]], int]] = by_opcode(
    {
        "all-reduce-start": lambda _, sizes: 2 * sum(sizes),  # its shape may have the operands, too
        "cholesky": lambda _, sizes: sizes[0],
        "dynamic-slice": lambda result, sizes: 2 * result + sizes[1],
        "dynamic-update-slice": lambda _, sizes: 2 * sizes[1] + sizes[2],
        "gather": lambda result, sizes: 2 * result + sizes[1],
        "scatter": _scattered,
        "slice": lambda result, _: 2 * result,
        "triangular-solve": lambda result, sizes: result + sizes[0] // 2 + sizes[1],
    }
)
