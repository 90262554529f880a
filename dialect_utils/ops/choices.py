"""The choices that definitions leave to the engine: two engines that choose differently are both right."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from dialect_utils.ops import Trait, named, with_trait


class Choice(Enum):
    """One choice that a definition leaves open; the value describes it in one sentence."""

    COMBINATION_ORDER = "The order in which elements are summed or combined."
    FUNCTION_ROUNDING = "How exactly a function such as a sine is rounded."
    EXCESS_PRECISION = "Whether bf16, f16 and f8 values between two operations are kept in a wider type."
    DOT_PRECISION = "In which precision a product at DEFAULT precision is computed."
    REDUCTION_PRECISION = "In which precision bf16, f16 and f8 values of several devices are summed or multiplied."
    CONVOLUTION_PADDING = "Whether the padding of a convolution is multiplied, as 0, or skipped."
    INITIAL_ZERO = "Whether a sum of one element adds its initial 0, which makes 0 of -0."
    NAN_BITS = "The sign and the payload of a NaN that an operation makes."
    SUBNORMALS = "Whether numbers below the smallest normal one count as zeros."
    ZERO_SIGN = "Which zero is the larger one of -0 and +0."
    INTEGER_DIVISION_BY_ZERO = "The quotient and the remainder of an integer divided by zero."
    EQUAL_KEYS = "The order of equal keys in a sort that is not stable."
    UPDATE_ORDER = "The order of the updates of one element."
    RANDOM_NUMBERS = "Random numbers without an algorithm."
    UNDEFINED_ELEMENTS = "Elements that the result need not define, such as the other triangle of a factor."


_SUMS = named("dot convolution ragged-dot scaled-dot")
# Each choice, and the operations whose results depend on it.
USES: Mapping[Choice, frozenset[str]] = {
    Choice.COMBINATION_ORDER: with_trait(Trait.COMBINES)
    | with_trait(Trait.CONTRACTS)
    | named("batch-norm-grad batch-norm-training fft"),
    Choice.FUNCTION_ROUNDING: frozenset(
        name
        for name in with_trait(Trait.ROUNDS)
        if name not in named("add subtract multiply divide sqrt") and not name.startswith("chlo.")
    ),
    Choice.EXCESS_PRECISION: named("add subtract multiply divide"),
    Choice.DOT_PRECISION: _SUMS,
    Choice.REDUCTION_PRECISION: named("all-reduce reduce-scatter"),
    Choice.CONVOLUTION_PADDING: named("convolution"),
    Choice.INITIAL_ZERO: named("convolution dot ragged-dot reduce reduce-window scaled-dot"),
    Choice.NAN_BITS: named("add subtract multiply divide remainder sqrt log power convert"),
    Choice.SUBNORMALS: named("add subtract multiply divide"),
    Choice.ZERO_SIGN: named("maximum minimum"),
    Choice.INTEGER_DIVISION_BY_ZERO: named("divide remainder"),
    Choice.EQUAL_KEYS: named("sort topk"),
    Choice.UPDATE_ORDER: named("scatter select-and-scatter"),
    Choice.RANDOM_NUMBERS: named("rng rng-bit-generator rng-get-and-update-state"),
    Choice.UNDEFINED_ELEMENTS: named("cholesky"),
}
