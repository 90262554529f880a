"""Certificates with conditions on data: a step that needs a condition is refused without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dialect_utils.ir import Module
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.verdict.certificate import Certificate, ReadTerm, certificate_text, clauses, read_certificate
from dialect_utils.verdict.certified import prove_conditionally
from dialect_utils.verdict.replay import replay
from tests.verdict.proof.dialects import parse

F32 = ArrayShape(ELEMENT_TYPES["f32"], (8,))


def module(body: str, parameters: str = "x = f32[8] parameter(0)\n  y = f32[8] parameter(1)") -> Module:
    return parse(f"HloModule m\nENTRY e {{\n  {parameters}\n  {body}\n}}\n")


ONE = "c = f32[] constant(1)\n  ROOT r = f32[8] broadcast(c), dimensions={}"
ZERO = "c = f32[] constant(0)\n  ROOT r = f32[8] broadcast(c), dimensions={}"
PAIRS = {
    "x never NaN, infinite or 0": ("ROOT r = f32[8] divide(x, x)", ONE),
    "multiply m": ("m = f32[8] multiply(x, y)\n  ROOT r = f32[8] subtract(m, m)", ZERO),
    "both": (
        "c = pred[8] compare(x, y), direction=LT\n  ROOT r = f32[8] select(c, y, x)",
        "ROOT r = f32[8] maximum(x, y)",
    ),
}


def proved(name: str) -> tuple[Sequence[Module], Certificate]:
    modules = [*map(module, PAIRS[name])]
    found = prove_conditionally(modules)
    assert found is not None
    assert found[0].certificate is not None
    return modules, found[0].certificate


@pytest.mark.parametrize("name", PAIRS)
def test_a_certificate_replays_from_its_text_with_its_conditions(name: str) -> None:
    modules, certificate = proved(name)
    replayed = replay(modules, read_certificate(certificate_text(certificate)))
    assert replayed.is_equal
    assert replayed.conditions == replay(modules, certificate).conditions != ()


@pytest.mark.parametrize("name", PAIRS)
def test_a_certificate_without_one_of_its_conditions_is_refused(name: str) -> None:
    modules, certificate = proved(name)
    for left_out in certificate.conditions:
        fewer = tuple(each for each in certificate.conditions if each != left_out)
        replayed = replay(modules, replace(certificate, conditions=fewer))
        assert not replayed.is_equal
        assert "does not make two terms equal" in replayed.refused


def test_the_clauses_name_parameters_and_results_and_come_from_the_certificate() -> None:
    modules, certificate = proved("multiply m")
    assert clauses(replay(modules, certificate).conditions) == ("multiply m is never NaN or infinite",)
    modules, certificate = proved("both")
    # The name of a condition is that of its term: a certificate cannot name another value.
    assert clauses(replay(modules, certificate).conditions) == ("x is never NaN or -0", "y is never NaN")
    swapped = tuple((value, certificate.conditions[0][1]) for value, _ in certificate.conditions)
    assert not replay(modules, replace(certificate, conditions=swapped)).is_equal


def test_a_condition_on_another_value_does_not_help() -> None:
    modules, certificate = proved("multiply m")
    x = ReadTerm("leaf", ("parameter", 0), F32, ())
    moved = tuple((value, x) for value, _ in certificate.conditions)
    assert not replay(modules, replace(certificate, conditions=moved)).is_equal


def constant(bits: int) -> ReadTerm:
    return ReadTerm("constant", bits, ArrayShape(ELEMENT_TYPES["f32"], ()), ())


NAN_BITS = 0x7FC00000
BOUND = ReadTerm("leaf", ("bound", 1, 0), F32, ())
REFUSED = {
    "an unknown value": ("odd", ReadTerm("leaf", ("parameter", 0), F32, ())),
    "a constant that is a NaN": ("NaN", constant(NAN_BITS)),
    "a constant that is none": ("NaN", constant(0)),
    "a variable of a body": ("NaN", BOUND),
    "a value that depends on a variable of a body": ("NaN", ReadTerm("each", "sine", F32, (BOUND,))),
    "a value of neither program": (
        "NaN",
        ReadTerm("each", "sine", F32, (ReadTerm("leaf", ("parameter", 1), F32, ()),)),
    ),
    "a value whose operand decides": (
        "NaN",
        ReadTerm("each", "negate", F32, (ReadTerm("leaf", ("parameter", 0), F32, ()),)),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_condition_about_no_value_of_the_programs_is_refused(name: str) -> None:
    modules, certificate = proved("x never NaN, infinite or 0")
    replayed = replay(modules, replace(certificate, conditions=(*certificate.conditions, REFUSED[name])))
    assert not replayed.is_equal
    assert replayed.refused
