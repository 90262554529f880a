"""For each operation of HLO: result, constraints, definition, proof, field, factors and order, or a reason without."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dialect_utils.ir import factors as remade
from dialect_utils.ops import HLO_NAMES, OPCODES, START, Opcode, Trait
from dialect_utils.ops.declaration import op
from dialect_utils.ops.domain import Domain
from dialect_utils.verdict.proof.symbols import Symbols
from dialect_utils.verdict.terms.handlers import HANDLERS

COLUMNS = ("result", "check", "definition", "proof", "field", "factors", "permutation")
_ENGINES = "the algorithm is that of an engine; the values are opaque"
_OUTSIDE = "exchanges data with a host or another program"
_ORDER = "the order of combined elements is not defined in general; the values are opaque"

# Column -> reason -> operations between spaces.
REASONS: Mapping[str, Mapping[str, str]] = {
    "result": {
        "the text chooses the shape": "bitcast custom-call rng rng-bit-generator",
        "the text chooses the sizes; the check compares their product": "dynamic-reshape",
        "the verifier of asynchronous chains compares it with its computation": "async",
        "the check compares operands, carries and results": "scan",
    },
    "check": {
        "the result implies all": (
            "all-gather all-to-all bitcast-convert broadcast concatenate constant convolution fft gather reshape "
            "get-dimension-size get-tuple-element iota pad parameter ragged-dot reverse slice topk transpose tuple"
        ),
        "it forwards any value": "domain opt-barrier",
        "it waits for any value": "after-all",
        "it has no operand and no attribute": "partition-id replica-id rng-get-and-update-state",
        "the verifier of asynchronous chains and of transfers has the constraints": "async send",
    },
    "definition": {
        "control flow or a tuple, which every domain follows by itself": (
            "add-dependency after-all async call conditional domain fusion get-tuple-element opt-barrier tuple while"
        ),
        "the value comes from the text or the caller": "constant parameter",
        "it depends on a layout": "bitcast",
        "it is a function of another program": "custom-call",
        _OUTSIDE: "infeed outfeed recv send",
        "it has a definition among several devices only": "ragged-all-to-all",
    },
    "proof": {
        _ENGINES: "cholesky custom-call fft triangular-solve",
        _ORDER: "select-and-scatter sort topk",
        _OUTSIDE: "infeed outfeed recv send",
        "the value comes from the caller": "parameter",
        "a token has no value": "after-all",
    },
    "permutation": {
        "the dimensions have different roles": (
            "batch-norm-grad batch-norm-inference batch-norm-training cholesky convolution fft ragged-dot scaled-dot "
            "scan sort topk triangular-solve"
        ),
        "XLA may combine the elements in another order": "reduce-window select-and-scatter",
        "a step of data movement: the passes compose it with the permutation": "bitcast-convert",
        "the text or the caller gives the value": "parameter custom-call",
        "the random numbers of an index change with the order": "rng rng-bit-generator rng-get-and-update-state",
        "no array, or any value": (
            "add-dependency after-all async call conditional domain fusion get-dimension-size get-tuple-element "
            "opt-barrier partition-id replica-id tuple while"
        ),
        "it depends on a layout": "bitcast",
        "the sizes are not static": "dynamic-reshape set-dimension-size",
        "the computation may depend on the order": "map",
        "layouts are part of what devices and hosts exchange": (
            "all-gather all-reduce all-to-all collective-broadcast collective-permute collective-reduce infeed outfeed "
            "ragged-all-to-all recv reduce-scatter send"
        ),
    },
}  # fmt: skip


def primitives(define: Callable[..., Any], seen: set[Callable[..., Any]]) -> set[str]:
    """Returns the primitives of a domain that a definition uses, by itself or through other functions."""
    if define in seen:
        return set()
    seen.add(define)
    source = inspect.getsource(define)
    found = set(re.findall(r"\bdomain\.(\w+)\(", source))
    for name in re.findall(r"\b(\w+)\(\s*domain\b", source):
        function = define.__globals__.get(name)
        found |= primitives(function, seen) if inspect.isfunction(function) else set()
    return found


def is_proved(opcode: Opcode) -> bool:
    """Is true where the proof has a rule, or terms for all primitives of the definition."""
    if opcode.name in HANDLERS or f"{opcode.name}{START}" in HANDLERS or opcode.has(Trait.PASSES_OPERANDS):
        return True
    if opcode.define is None:
        return False
    used = primitives(opcode.define, set())
    return opcode.has(Trait.ELEMENTWISE) or all(
        getattr(Symbols, name) is not getattr(Domain, name, None) for name in used
    )


def covered(opcode: Opcode) -> dict[str, bool]:
    """Returns for each column whether an operation has it. The field interprets the terms of the proof."""
    proved = is_proved(opcode)
    permuted = opcode.has(Trait.ELEMENTWISE) or opcode.name in remade._REMADE  # noqa: SLF001
    checked = opcode.check or opcode.has(Trait.ELEMENTWISE)
    has = (opcode.result, checked, opcode.define, proved, proved, callable(opcode.factors), permuted)
    return dict(zip(COLUMNS, map(bool, has), strict=True))


def reasons(column: str) -> dict[str, str]:
    if column == "factors":
        return {each.name: each.factors for each in OPCODES.values() if isinstance(each.factors, str) and each.factors}
    listed = REASONS["proof" if column == "field" else column]
    return {name: reason for reason, names in listed.items() for name in names.split()}


def complaints(opcodes: Mapping[str, Opcode]) -> list[str]:
    found = []
    for column in COLUMNS:
        known = reasons(column)
        found += [
            f"{name} has no {column} and no reason"
            for name, opcode in opcodes.items()
            if not covered(opcode)[column] and name not in known
        ]
    return found


def test_each_operation_has_each_part_or_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    opcodes = {name: OPCODES[name] for name in sorted(HLO_NAMES)}
    for name, opcode in opcodes.items():
        print(f"{name:30}", " ".join(column for column, has in covered(opcode).items() if has))
    assert len(capsys.readouterr().out.splitlines()) == len(HLO_NAMES)
    assert complaints(opcodes) == []


def test_no_reason_is_stale() -> None:
    stale = [
        f"{name}: {column}"
        for column in COLUMNS
        for name in reasons(column)
        if covered(OPCODES[name])[column] or (name not in HLO_NAMES and column != "factors")
    ]
    assert stale == []


def test_a_planted_operation_without_reasons_fails() -> None:
    planted = op("planted", 1)
    assert complaints({"planted": planted}) == [f"planted has no {column} and no reason" for column in COLUMNS]
