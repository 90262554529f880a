"""Certificates in memory and in files: what replays, and what a changed one does not prove."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dialect_utils.ir import Module
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.parse import try_decompose_chlo
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, certificate_text, read_certificate
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.replay import Replayed, replay
from dialect_utils.verdict.replay.equality import Level
from tests.verdict.proof.dialects import parse
from tests.verdict.replay.forging import hlo, told

HEAD = (
    "HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\nENTRY e {\n"
)
SWAPPED = f"""{HEAD}  x = f32[4,8] parameter(0)
  y = f32[8,3] parameter(1)
  xt = f32[8,4] transpose(x), dimensions={{1,0}}
  yt = f32[3,8] transpose(y), dimensions={{1,0}}
  product = f32[3,4] dot(yt, xt), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT r = f32[4,3] transpose(product), dimensions={{1,0}}
}}
"""
DOT = f"""{HEAD}  x = f32[4,8] parameter(0)
  y = f32[8,3] parameter(1)
  ROOT r = f32[4,3] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""
OTHER = DOT.replace("  ROOT r =", "  z = f32[8,3] negate(y)\n  ROOT r =").replace("dot(x, y)", "dot(x, z)")
TRANSPOSED_TWICE = f"""{HEAD}  x = f32[4,8] parameter(0)
  y = f32[8,3] parameter(1)
  t = f32[8,4] transpose(x), dimensions={{1,0}}
  ROOT r = f32[4,8] transpose(t), dimensions={{1,0}}
}}
"""
PLAIN = f"""{HEAD}  x = f32[4,8] parameter(0)
  y = f32[8,3] parameter(1)
  ROOT r = f32[4,8] copy(x)
}}
"""
PAIRS = {"dot": (SWAPPED, DOT), "transposes": (TRANSPOSED_TWICE, PLAIN)}


def proof_of(first: str, second: str) -> Certificate:
    modules = [parse(first), parse(second)]
    found = try_prove(modules).certificate
    assert found is not None
    return found


def replayed(first: str, second: str, certificate: Certificate) -> Replayed:
    modules = [parse(first), parse(second)]
    return replay(modules, certificate)


@pytest.mark.parametrize("name", PAIRS)
def test_a_certificate_comes_back_from_its_file_and_replays(name: str) -> None:
    certificate = proof_of(*PAIRS[name])
    text = certificate_text(certificate)
    again = read_certificate(text)
    assert certificate_text(again) == text
    assert replayed(*PAIRS[name], again) == replayed(*PAIRS[name], certificate)
    assert replayed(*PAIRS[name], again).is_equal


@pytest.mark.parametrize("name", PAIRS)
def test_every_step_is_needed_or_follows_from_the_others(name: str) -> None:
    certificate = proof_of(*PAIRS[name])
    assert not replayed(*PAIRS[name], replace(certificate, steps=())).is_equal


def test_a_certificate_proves_nothing_of_other_modules() -> None:
    certificate = proof_of(SWAPPED, DOT)
    assert not replayed(SWAPPED, OTHER, certificate).is_equal


def test_a_step_with_another_rule_is_refused() -> None:
    certificate = proof_of(SWAPPED, DOT)
    for number, step in enumerate(certificate.steps):
        changed = list(certificate.steps)
        changed[number] = replace(step, rule="negation")
        found = replayed(SWAPPED, DOT, replace(certificate, steps=tuple(changed)))
        assert found.refused.startswith("negation does not make two terms equal")


LOOP = """func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %a = chlo.FUNCTION %x : tensor<4xf32> -> tensor<4xf32>
  %r:3 = stablehlo.while(%i = %zero, %v = %a, %d = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %more = stablehlo.add %v, %v : tensor<4xf32>
    %lost = stablehlo.multiply %d, %v : tensor<4xf32>
    stablehlo.return %next, %more, %lost : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
"""


def test_a_loop_of_a_module_with_chlo_replays_from_a_file() -> None:
    """The modules of the proof are decomposed, and so are those of the replay: other objects with equal loops."""
    first, other = parse(LOOP.replace("FUNCTION", "acos")), parse(LOOP.replace("FUNCTION", "asin"))
    assert isinstance(first, StableHloModule)
    last = try_decompose_chlo(first)
    assert last is not None
    found = prove([first, last])
    assert found.answer == "equal", found.reason
    assert found.certificate is not None
    assert [len(each) for each in found.certificate.readings] == [1, 1]
    again = read_certificate(certificate_text(found.certificate))
    assert replay([first, last], again).is_equal
    assert not replay([other, last], again).is_equal


TOTAL = f"""{HEAD}  x = f32[8] parameter(0)
  zero = f32[] constant(0)
  s = f32[] reduce(x, zero), dimensions={{0}}, to_apply=add
  back = f32[8] reverse(x), dimensions={{0}}
  t = f32[] reduce(back, zero), dimensions={{0}}, to_apply=add
  ROOT r = pred[] compare(s, t), direction=LT
}}
"""
NEVER = f"{HEAD}  x = f32[8] parameter(0)\n  ROOT r = pred[] constant(false)\n}}\n"


def test_a_proof_that_does_not_replay_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = [parse(TOTAL), parse(NEVER)]
    assert try_prove(modules).answer == "equal"
    found = prove(modules)
    assert (found.answer, [each.is_equal for each in found.outputs]) == ("unknown", [False])
    assert "a choice of the engine, which an operation observes" in found.reason
    monkeypatch.setattr("dialect_utils.verdict.certified.try_prove", _without_steps)
    assert prove(modules).reason.startswith("internal error: the proof does not replay")


def _without_steps(stages: Sequence[Module], **options: Any) -> ProofResult:
    return replace(try_prove(stages, **options), certificate=Certificate((), ({}, {})))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[1]", "its format is None"),
        ('{"format":"other"}', "its format is 'other'"),
        ('{"format":"relayout certificate 1"}', "'terms'"),
    ],
)
def test_a_file_that_is_no_certificate_is_an_error(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=f"this is no certificate that can be read: .*{message}"):
        read_certificate(text)


def test_a_term_that_refers_to_a_later_one_is_an_error() -> None:
    plain = json.loads(certificate_text(proof_of(*PAIRS["dot"])))
    plain["terms"][0][3] = [len(plain["terms"]) - 1]
    with pytest.raises(DiagnosticError, match="term 0 refers to a later one"):
        read_certificate(json.dumps(plain))


def test_a_side_effect_of_one_module_only_is_not_proved() -> None:
    body = "x = f32[] parameter(0)\n t = token[] after-all()\n"
    silent = hlo(f"{body} ROOT r = f32[] add(x, x)")
    telling = hlo(f"{body} o = token[] outfeed(x, t)\n ROOT r = f32[] add(x, x)")
    for pair in ((silent, telling), (telling, silent)):
        found = told(pair)
        assert found.outputs == (Level.BITS,)
        assert found.effects is None
        assert not found.is_equal
    assert told((telling, telling)).is_equal
