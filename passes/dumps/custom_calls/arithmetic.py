"""The arithmetic around products and convolutions of GPU libraries: scales, biases, activations.

All of it is in the type in which the library accumulates; the result is rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import S32, AttributeValue, Ops, add_scalar_computation, zero_of
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape, ElementType, TupleShape
from passes.dumps.custom_calls.call_config import refused
from passes.dumps.legalize_types import accumulator

# The activations of stream_executor's dnn.proto, in the order of their numbers.
_NAMES = "None Sigmoid Relu Relu6 ReluX Tanh BandPass Elu LeakyRelu GeluExact"
ACTIVATIONS = tuple(f"k{name}" for name in _NAMES.split())
# The largest number of each type to which the libraries saturate.
_LARGEST = {"f8e4m3fn": "448", "f8e5m2": "57344", "f8e4m3fnuz": "240", "f8e5m2fnuz": "57344"}
# Hendrycks and Gimpel's approximation of GELU, which XLA recognises and cublasLt computes.
_GELU_CUBIC = 0.044715


def summing_type(result: Instruction | ArrayShape, *operands: Instruction) -> ElementType:
    """Returns the type in which a library sums products: s32 for integers, else f32 or wider."""
    shape = result if isinstance(result, ArrayShape) else array_shape(result)
    types = [array_shape(operand).element_type for operand in operands]
    if all(kind.is_integral for kind in types) and not shape.element_type.is_integral:
        return S32
    return accumulator([shape.element_type, *types])


def plain(ops: Ops, value: Instruction, kind: ElementType) -> Instruction:
    """Builds a value of another type, in the layout of new arrays."""
    return ops.fitted(ops.convert(value, kind), ops.shape(kind, array_shape(value).dimensions))


def filled(ops: Ops, like: Instruction, number: complex) -> Instruction:
    """Builds an array of equal numbers, with the type and dimensions of another array."""
    shape = array_shape(like)
    kind = shape.element_type
    literal = f"({number.real!r}, {number.imag!r})" if kind.is_complex else repr(number.real)
    return ops.filled(kind, shape.dimensions, literal)


def times(ops: Ops, value: Instruction, factor: complex) -> Instruction:
    """Builds the product with a number, or returns the value for 1."""
    return value if factor == 1 else ops.like("multiply", value, filled(ops, value, factor))


def scaled(ops: Ops, value: Instruction, factor: Instruction) -> Instruction:
    """Builds the product with a scalar value."""
    shape = array_shape(value)
    scalar = ops.convert(ops.reshape(factor, ()), shape.element_type)
    return ops.like("multiply", value, ops.broadcast(scalar, shape.dimensions))


def plus(ops: Ops, value: Instruction, other: Instruction, factor: complex = 1) -> Instruction:
    """Builds the sum with another array, converted and multiplied by a number."""
    return ops.like("add", value, times(ops, plain(ops, other, array_shape(value).element_type), factor))


def plus_along(ops: Ops, value: Instruction, bias: Instruction, along: Sequence[int]) -> Instruction:
    """Builds the sum with an array whose dimensions are the dimensions `along` of the value."""
    shape = array_shape(value)
    return ops.like("add", value, ops.broadcast(plain(ops, bias, shape.element_type), shape.dimensions, along))


def activated(ops: Ops, call: Instruction, value: Instruction, mode: str, slope: float = 0.0) -> Instruction:
    """Builds one of `ACTIVATIONS`; raises DiagnosticError for one whose bounds no backend_config contains."""
    if mode == "kLeakyRelu":
        return _choose_positive(ops, value, times(ops, value, slope))
    if mode not in _ACTIVATE:
        raise refused(call, f"its activation {mode} has bounds that no config says")
    return _ACTIVATE[mode](ops, value)


def approximate_gelu(ops: Ops, value: Instruction) -> Instruction:
    """Builds x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    cube = ops.like("multiply", ops.like("multiply", value, value), value)
    inner = ops.like("add", value, times(ops, cube, _GELU_CUBIC))
    bent = ops.like("tanh", times(ops, inner, sqrt(2 / pi)))
    return _half_of_one_plus(ops, value, bent)


def rounded(ops: Ops, value: Instruction, kind: ElementType) -> Instruction:
    """Builds a conversion that saturates for narrow floats and integers, and rounds integers to nearest even."""
    largest = _LARGEST.get(kind.name)
    shape = array_shape(value)
    if largest is not None:
        value = _clamped(ops, value, f"-{largest}", largest)
    elif kind.is_integral and shape.element_type != kind:
        value = _clamped(ops, value, *map(str, kind.integer_range))
        if shape.element_type.is_floating:
            value = ops.like("round-nearest-even", value)
    return ops.convert(value, kind)


def largest_magnitude(ops: Ops, value: Instruction) -> Instruction:
    """Builds the largest magnitude of an array."""
    shape, kind = array_shape(value), array_shape(value).element_type
    body = add_scalar_computation(ops.computation.module, "larger", "maximum", kind)
    operands = (ops.like("abs", value), ops.constant(kind, "0"))
    attributes: dict[str, AttributeValue] = {"dimensions": tuple(range(shape.rank)), "to_apply": f"%{body}"}
    return ops.array("reduce", (), operands, attributes, element_type=kind)


def outputs(ops: Ops, call: Instruction, values: Sequence[Instruction]) -> Instruction:
    """Builds the result of a call: the values, and zeros for the other elements of the tuple, which are workspace."""
    if not isinstance(call.shape, TupleShape):
        return values[0]
    spare = []
    for shape in call.shape.elements[len(values) :]:
        if not isinstance(shape, ArrayShape):
            raise refused(call, f"its result holds {shape}")
        spare.append(ops.filled(shape.element_type, shape.dimensions, zero_of(shape.element_type)))
    return ops.tuple([*values, *spare])


def result_shapes(call: Instruction, count: int) -> list[ArrayShape]:
    """Returns the shapes of the first `count` result arrays; raises DiagnosticError if the call has fewer."""
    found = [shape for shape in call.shape.parts[:count] if isinstance(shape, ArrayShape)]
    if len(found) != count:
        raise refused(call, f"its result is {call.shape}, where {count} arrays are expected")
    return found


def _clamped(ops: Ops, value: Instruction, low: str, high: str) -> Instruction:
    shape = array_shape(value)
    bounds = [ops.filled(shape.element_type, shape.dimensions, bound) for bound in (low, high)]
    return ops.emit("clamp", ops.shape(shape.element_type, shape.dimensions), (bounds[0], value, bounds[1]))


def _choose_positive(ops: Ops, value: Instruction, other: Instruction) -> Instruction:
    is_positive = ops.compare("GT", value, filled(ops, value, 0.0))
    return ops.emit("select", array_shape(value), (is_positive, value, other))


def _half_of_one_plus(ops: Ops, value: Instruction, bent: Instruction) -> Instruction:
    return ops.like("multiply", times(ops, value, 0.5), ops.like("add", bent, filled(ops, bent, 1.0)))


def rectified(ops: Ops, value: Instruction) -> Instruction:
    """Builds max(x, 0)."""
    return ops.like("maximum", value, filled(ops, value, 0.0))


_ACTIVATE: dict[str, Callable[[Ops, Instruction], Instruction]] = {
    "kNone": lambda ops, value: value,
    "kSigmoid": lambda ops, value: ops.like("logistic", value),
    "kRelu": rectified,
    "kRelu6": lambda ops, value: _clamped(ops, value, "0", "6"),
    "kTanh": lambda ops, value: ops.like("tanh", value),
    "kElu": lambda ops, value: _choose_positive(ops, value, ops.like("exponential-minus-one", value)),
    "kGeluExact": lambda ops, value: _half_of_one_plus(ops, value, ops.like("erf", times(ops, value, sqrt(0.5)))),
}
