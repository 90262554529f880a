"""Exact operations on constants, by the definitions on bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from math import prod
from operator import mul
from typing import Any

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import by_opcode, named, opcode_of
from dialect_utils.ops.domain import DIRECTIONS, UndefinedError, static_array
from dialect_utils.verdict.rules.formats import float_bits, has, value_of
from dialect_utils.verdict.terms.primitives import Term

# Exact operations: the definition leaves nothing of their results to the engine.
_EXACT = named(
    "add subtract multiply divide remainder negate abs sign and or xor not maximum minimum floor ceil convert popcnt "
    "round-nearest-even round-nearest-afz clamp count-leading-zeros sqrt is-finite "
    "shift-left shift-right-logical shift-right-arithmetic"
)
_F32 = ELEMENT_TYPES["f32"]
# Larger numbers round or overflow in f32.
_LARGEST = 1 << 100
# Operations whose result has another type than their operands.
_RETYPED = named("convert is-finite")


@lru_cache(maxsize=65536)
def folded(label: Hashable, result: ElementType, operands: Sequence[tuple[ElementType, int]]) -> int | None:
    """Returns the result bits of an exact operation on constants (type, bits); None for inexact operations."""
    kinds, bits = [kind for kind, _ in operands], [each for _, each in operands]
    # Products of complex numbers are sums, which an engine rounds as it likes.
    if len({*kinds}) != 1 or kinds[0].is_complex or result.is_complex:
        return None
    if isinstance(label, tuple) and label[:1] == ("compare",) and len(label) == len(("opcode", "direction", "order")):
        values = [value_of(kinds[0], each) for each in bits]
        is_plain = label[2] is False and result.name == "pred" and None not in values
        return int(DIRECTIONS[str(label[1])](*values)) if is_plain else None
    if isinstance(label, tuple) and label[:1] == ("ring",) and kinds[0] == result and result.is_integral:
        size = 1 << result.bits
        terms = (reduce(mul, (pow(bits[i], power, size) for i, power in powers), count) for count, powers in label[1:])
        return int(sum(terms) % size)
    if label == ("bitcast-convert", result):
        return bits[0] if kinds[0].bits == result.bits else None
    if label == "negate" and has(result, "sign"):
        return bits[0] ^ 1 << (result.bits - 1)
    is_divided = label in ("divide", "remainder") and kinds[0].is_integral and bits[-1] == 0
    is_open = is_divided or (label == "clamp" and not result.is_integral)
    is_open |= label == "convert" and _may_round_twice(kinds[0], result, bits[0])
    # A power is exact for integers only.
    is_exact = label in _EXACT or (label == "power" and kinds[0].is_integral)
    is_whole = is_exact and len(bits) == opcode_of(str(label)).operand_count
    if not is_whole or is_open or (kinds[0] != result and label not in _RETYPED):
        return None
    return _computed(str(label), result, kinds[0], bits)


def _may_round_twice(kind: ElementType, result: ElementType, bits: int) -> bool:
    """Is true for a number that f32 rounds before it is rounded to a narrower float."""
    value = value_of(kind, bits)
    if not result.is_floating or result.bits >= _F32.bits or not isinstance(value, Fraction | int):
        return False
    exact = Fraction(value)
    return abs(exact) > _LARGEST or exact != float(exact) or float_bits(_F32, float(exact)) is None


def _computed(opcode: str, result: ElementType, kind: ElementType, bits: Sequence[int]) -> int | None:
    """Returns the result of an operation on scalars by the reference evaluator."""
    import numpy as np

    from dialect_utils.execution.reference.elementwise import each
    from dialect_utils.layout.arrays.dtypes import as_bits, dtype_of

    try:
        dtype = dtype_of(kind)
        arrays = [np.array([value], f"u{dtype.itemsize}").view(dtype) for value in bits]
        found = int(as_bits(np.asarray(each(opcode, result, arrays), dtype_of(result)))[0])
    except (UndefinedError, ValueError):
        return None
    return found & ((1 << result.bits) - 1)


# Functions whose rounding the definition leaves to the engine.
_FUNCTIONS: Mapping[str, Callable[..., float]] = by_opcode(
    {
        **{name: getattr(math, name) for name in ("tan", "tanh", "cbrt", "atan2")},
        "cosine": math.cos, "sine": math.sin, "exponential": math.exp, "exponential-minus-one": math.expm1,
        "log": math.log, "log-plus-one": math.log1p, "logistic": lambda x: 1 / (1 + math.exp(-x)),
        "power": math.pow, "rsqrt": lambda x: 1 / math.sqrt(x),
    }
)  # fmt: skip


def rounds_to(label: Hashable, kind: ElementType, operands: Sequence[int], bits: int) -> bool:
    """Is true where a function of constants of a float type is 0, or is between both neighbours of a number."""
    function = _FUNCTIONS.get(str(label))
    *arguments, found = (value_of(kind, each) for each in (*operands, bits))
    exact_types = Fraction | int  # other values are infinities, NaN and -0.0
    if (
        function is None
        or not kind.is_floating
        or not all(isinstance(each, exact_types) for each in (*arguments, found))
    ):
        return False
    try:
        exact = function(*(float(each or 0) for each in arguments))
    except (ArithmeticError, TypeError, ValueError):
        return False
    if not found:
        return exact == 0
    ends = [each for each in (value_of(kind, bits - 1), value_of(kind, bits + 1)) if each is not None]
    return len(ends) == len(("below", "above")) and min(ends) < exact < max(ends)


# The most elements of an array that is computed from constants, or whose positions are listed.
_MOST_ELEMENTS = 1 << 20


class ConstantArrays:
    """The values of arrays of integers and truth values that depend on no input, by the definitions on bits."""

    def __init__(self) -> None:
        self._known: dict[Term, Any] = {}

    def value(self, term: Term) -> Any:
        """Returns a numpy array; None for an array that depends on an input, or that has no exact value here."""
        pending = [term]
        while pending:
            part = pending[-1]
            missing = [each for each in part.operands if each not in self._known]
            if part in self._known or not missing or not _is_small(part):
                pending.pop()
                if part not in self._known:
                    self._known[part] = self._made(part) if _is_small(part) else None
                continue
            # One operand that is not known is enough.
            pending.append(missing[0])
            if any(self._known.get(each, self) is None for each in part.operands):
                pending.pop()
                pending.pop()
                self._known[part] = None
        return self._known[term]

    def _made(self, term: Term) -> Any:

        operands = [self._known[each] for each in term.operands]
        if any(each is None for each in operands):
            return None
        try:
            return _constant_array(term, operands)
        except (UndefinedError, ValueError, OverflowError):
            return None


def _is_small(term: Term) -> bool:
    shape = term.shape
    if not isinstance(shape, ArrayShape) or not (shape.element_type.is_integral or shape.element_type.name == "pred"):
        return False
    return prod(shape.dimensions) <= _MOST_ELEMENTS


def _constant_array(term: Term, operands: Sequence[Any]) -> Any:
    """Returns the value of a term given those of its operands; raises UndefinedError for other terms."""
    import numpy as np

    from dialect_utils.execution.constants import as_array
    from dialect_utils.layout.arrays.dtypes import bits_scalar, dtype_of
    from dialect_utils.ops.positions import stepped

    shape, label = static_array(term.shape), term.label
    kind, sizes = shape.element_type, shape.dimensions
    match term.kind, label:
        case "constant", bytes():
            return as_array(label, kind, sizes)
        case "constant", int():
            return np.full(sizes, bits_scalar(label, dtype_of(kind)))
        case "splat", _:
            return np.full(sizes, operands[0])
        case "op", ("iota",):
            return np.arange(sizes[0]).astype(dtype_of(kind))
        case "op", ("broadcast", tuple() as dimensions):
            own, order = [1] * len(sizes), sorted(range(len(dimensions)), key=dimensions.__getitem__)
            for target, size in zip(dimensions, operands[0].shape, strict=True):
                own[target] = size
            return np.broadcast_to(operands[0].transpose(order).reshape(own), sizes)
        case "moved", Plan() if not label.adds_elements and not label.regroups_bits:
            return reduce(lambda array, step: stepped(step, array), label.steps, operands[0])
        case "each", _:
            return _constant_elements(label, kind, operands)
    raise UndefinedError("no constant")


def _constant_elements(label: Any, kind: ElementType, operands: Sequence[Any]) -> Any:
    """Returns an elementwise operation on arrays; raises UndefinedError for one without an exact result."""
    import numpy as np

    from dialect_utils.execution.reference import conversions, elementwise
    from dialect_utils.layout.arrays.dtypes import dtype_of

    if label in ("divide", "remainder") and not np.all(operands[1]):
        raise UndefinedError("the engine chooses the quotient of a division by 0")
    if isinstance(label, str) and (label in _EXACT or label == "select"):
        return np.asarray(elementwise.each(label, kind, [*operands]), dtype_of(kind))
    if isinstance(label, tuple) and label[0] == "compare" and label[2:] == (False,):
        return conversions.compare(label[1], *operands)
    if not isinstance(label, tuple) or label[0] != "ring":
        raise UndefinedError("no constant")
    total = 0
    for coefficient, powers in label[1:]:
        factors = (operands[position].astype(object) ** power for position, power in powers)
        total = total + reduce(mul, factors, coefficient)
    return np.asarray(total % (1 << kind.bits)).astype(f"u{dtype_of(kind).itemsize}").view(dtype_of(kind))


def keeps_exactly(mask: Any, inner: Plan, padded: Plan) -> bool:
    """Is true where movement keeps the elements of an array in their places for which a mask is true, and no others."""
    import numpy as np

    if inner.adds_elements or inner.regroups_bits or padded.regroups_bits or inner.result != padded.start:
        return False
    found, places = positions_of(inner.then(padded)), np.arange(mask.size).reshape(mask.shape)
    return found is not None and bool((found == np.where(mask, places, -1)).all())


def positions_of(plan: Plan) -> Any:
    """Returns the position of each element of a plan's result in its array, -1 for padding; None for large arrays."""
    if plan.regroups_bits or prod(plan.result[1]) > _MOST_ELEMENTS:
        return None
    from dialect_utils.layout.proof.reads import origins

    return origins(plan, plan.element_type.bits)[..., 0]
