"""Terms of solvers against the definitions: the same results for special and random bits of every operation."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dialect_utils.execution.arrays import Array, from_bits, to_bits
from dialect_utils.execution.reference import conversions, elementwise
from dialect_utils.layout import ELEMENT_TYPES, ElementType
from tests.rules import lemmas, solvers, translation
from tests.rules.samples import random_bits
from tests.rules.script import IEEE, Script, Value, literal

pytestmark = pytest.mark.skipif(
    bool(solvers.missing_packages()), reason=f"not installed: {', '.join(solvers.missing_packages())}"
)
_SAMPLES = 24
_FLOATS = ("f16", "bf16", "f32", "f64", "f8e5m2")
_INTEGERS = ("s4", "u8", "s16", "u32", "s64")
_UNARY = "abs ceil count-leading-zeros floor is-finite negate not popcnt round-nearest-afz round-nearest-even sign sqrt"
_BINARY = (
    "add and divide maximum minimum multiply or remainder shift-left shift-right-arithmetic shift-right-logical "
    "subtract xor"
)


def has(opcode: str, kind: ElementType) -> bool:
    table = translation._FLOAT if kind.is_floating else translation._INTEGER  # noqa: SLF001
    return opcode in (translation._LOGICAL if kind.name == "pred" else table)  # noqa: SLF001


def samples(kind: ElementType, count: int, seed: str) -> Array:
    rng = random.Random(f"{kind} {seed}")
    bits = np.array([random_bits(kind, rng) for _ in range(count)], np.uint64)
    return from_bits(bits.astype(f"u{kind.storage_bytes}"), kind)


def constant(script: Script, kind: ElementType, bits: int) -> Value:
    return script.of_term(kind, literal(bits, kind.bits))


def words(array: Array, kind: ElementType) -> list[int]:
    return [int(each) for each in to_bits(array, kind).reshape(-1)]


def differs(script: Script, found: Value, expected: int) -> str:
    """Returns the condition that a result is not the expected one; any NaN is like any other."""
    return f"(not {translation.is_same(script, found, constant(script, found.element_type, expected), 'nan')})"


def refutation(script: Script, differences: list[str]) -> solvers.Answer:
    script.require(f"(or false {' '.join(differences)})")
    return solvers.decide(script, solvers.solver_for(script), 60.0)


def operation_differs(opcode: str, kind: ElementType, count: int) -> solvers.Answer:
    """Returns whether a solver finds another result than the definition for a sample."""
    script = Script()
    arrays = [samples(kind, _SAMPLES, f"{opcode} {i}") for i in range(count)]
    expected = elementwise.each(opcode, kind, arrays)
    result = conversions.kind_of(expected)
    columns = [words(array, kind) for array in arrays]
    differences = [
        differs(script, translation.each(script, opcode, [constant(script, kind, each) for each in bits]), want)
        for bits, want in zip(zip(*columns, strict=True), words(expected, result), strict=True)
    ]
    return refutation(script, differences)


@pytest.mark.parametrize("name", [*_FLOATS[:4], *_INTEGERS, "pred"])
def test_the_terms_of_operations_agree_with_the_definitions(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    for count, opcodes in ((1, _UNARY), (2, _BINARY), (3, "clamp")):
        for opcode in opcodes.split():
            if has(opcode, kind) or opcode == "clamp":
                assert operation_differs(opcode, kind, count).outcome == "holds", opcode


@pytest.mark.parametrize("name", [*_FLOATS, *_INTEGERS, "pred"])
def test_the_terms_of_comparisons_agree_with_the_definitions(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        for is_total in (False, True):
            script = Script()
            left, right = (samples(kind, _SAMPLES, f"{direction} {i}") for i in range(2))
            right[::4] = left[::4]
            expected = conversions.compare(direction, left, right, is_total=is_total)
            differences = [
                differs(script, translation.compare(script, direction, *pair, is_total=is_total), int(want))
                for *bits, want in zip(words(left, kind), words(right, kind), expected, strict=True)
                for pair in [[constant(script, kind, each) for each in bits]]
            ]
            assert refutation(script, differences).outcome == "holds", (direction, is_total)


@pytest.mark.parametrize("name", [*_FLOATS, *_INTEGERS, "pred"])
def test_the_terms_of_conversions_agree_with_the_definitions(name: str) -> None:
    source = ELEMENT_TYPES[name]
    for target in map(ELEMENT_TYPES.__getitem__, (*IEEE, *_INTEGERS, "pred")):
        script, array = Script(), samples(source, _SAMPLES, f"to {target}")
        expected = words(elementwise.each("convert", target, [array]), target)
        differences = [
            differs(script, translation.convert(script, target, constant(script, source, bits)), want)
            for bits, want in zip(words(array, source), expected, strict=True)
        ]
        assert refutation(script, differences).outcome == "holds", target


def test_a_root_rounded_twice_is_the_root() -> None:
    assert lemmas.answer("bf16", "sqrt", 1, 60.0).outcome == "holds"


def test_a_wrong_lemma_is_refuted() -> None:
    # A number of f32 that is rounded to f16 is another number.
    kind, script = ELEMENT_TYPES["f32"], Script()
    x = script.variable("x", kind)
    narrow = translation.convert(script, ELEMENT_TYPES["f16"], x)
    script.require(f"(not {translation.is_same(script, x, translation.convert(script, kind, narrow), 'nan')})")
    assert solvers.decide(script, solvers.solver_for(script), 60.0).outcome == "refuted"


def test_a_wrong_term_is_refuted() -> None:
    kind, script = ELEMENT_TYPES["f16"], Script()
    found = translation.each(script, "add", [constant(script, kind, 0x3C00), constant(script, kind, 0x3C00)])
    assert refutation(script, [differs(script, found, 0x4001)]).outcome == "refuted"
