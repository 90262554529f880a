"""Every kept input still holds, and the fuzzers notice planted mistakes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from dialect_utils.stablehlo import parse_module
from dialect_utils.text import Diagnostic, DiagnosticError
from tests.fuzzing import findings, growth, native
from tests.fuzzing.findings import violation, write_down
from tests.fuzzing.growth import OPENING, find_growth
from tests.fuzzing.mutation import mutate_bytecode, mutate_tokens, read_varint, sections_of, write_varint
from tests.fuzzing.native import NATIVE, Native, outcomes
from tests.fuzzing.targets import KEPT, TARGETS, Target

SECONDS = 5.0
LONG = 50_000
SECONDS_PER_LONG_TEXT = 1.0
LARGEST_CORPUS = 1 << 20


def kept(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((KEPT / name).iterdir())]


def test_the_kept_corpus_is_small_and_belongs_to_targets() -> None:
    files = [path for path in KEPT.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} == {*TARGETS, *NATIVE}
    assert sum(path.stat().st_size for path in files) < LARGEST_CORPUS


@pytest.mark.parametrize("name", TARGETS)
def test_kept_inputs_are_read_or_rejected(name: str) -> None:
    found = [(data[:80], violation(TARGETS[name].check, data, SECONDS)) for data in kept(name)]
    assert [each for each in found if each[1] is not None] == []


@pytest.mark.parametrize("name", NATIVE)
def test_kept_inputs_of_libraries_are_read_or_rejected(name: str) -> None:
    NATIVE[name].load()
    assert [each for each in outcomes(name, kept(name)) if each.is_violation] == []


def _loop(data: bytes) -> None:
    while True:
        time.process_time()


def _reject(data: bytes) -> None:
    raise DiagnosticError(Diagnostic("no"))


def test_violations_are_other_errors_and_endless_work() -> None:
    assert violation(_reject, b"", SECONDS) is None
    assert isinstance(violation(lambda data: [][0], b"", SECONDS), IndexError)
    assert isinstance(violation(_loop, b"", 0.05), findings.TooSlowError)


def test_the_shortest_input_of_a_kind_is_written_down(tmp_path: Path) -> None:
    with patch.object(findings, "FOUND", tmp_path):
        for data in (b"long", b"s", b"longer"):
            write_down("t", data, violation(lambda _: [][0], data, SECONDS) or ValueError())
    assert sorted(path.read_bytes() for path in tmp_path.glob("t/*") if not path.suffix) == [b"s"]


def test_growth_is_noticed() -> None:
    spent = [0.0]

    def reader(power: int) -> Target:
        def check(data: bytes) -> None:
            spent[0] += len(data) ** power * 1e-10

        return Target(check)

    with patch.object(growth, "time", SimpleNamespace(process_time=lambda: spent[0])):
        assert find_growth(reader(2), b"a", 0) == pytest.approx(4, rel=0.1)
        assert find_growth(reader(1), b"a", 0) is None


@pytest.mark.parametrize("name", ["comments", "hlo", "attributes", "shapes", "logs", "pipelines"])
def test_marks_that_nothing_closes_take_linear_time(name: str) -> None:
    texts = [
        before + mark * (LONG // len(mark))
        for mark in OPENING
        for before in (b"", b'a = "', b"// expected-error-re {{", b"\xff", b"a{b=")
    ]
    assert [
        text[:40] for text in texts if violation(TARGETS[name].check, text, SECONDS_PER_LONG_TEXT) is not None
    ] == []


def _end(data: bytes) -> None:
    if data == b"abort":
        os.abort()
    if data == b"raise":
        raise IndexError


def test_a_child_that_ends_costs_its_own_input_only(tmp_path: Path) -> None:
    planted = {"t": Native(_end, lambda: iter(()), lambda data, others, draw: data, lambda: None)}
    with patch.object(native, "NATIVE", planted), patch.object(findings, "FOUND", tmp_path):
        found = outcomes("t", [b"a", b"abort", b"raise", b"b"])
    assert [each.kind for each in found] == ["read", "SIGABRT", "IndexError: ", "read"]
    assert [each.is_violation for each in found] == [False, False, True, False]


def test_numbers_of_bytecode_are_read_back() -> None:
    for value in (0, 1, 127, 128, 16383, 16384, 1 << 55, (1 << 56) - 1, 1 << 56, (1 << 64) - 1):
        written = write_varint(value)
        assert read_varint(written + b"x", 0) == (value, len(written))


TEXT = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n"


def test_sections_of_bytecode_are_found_and_kept_readable() -> None:
    data = parse_module(TEXT).bytecode()
    head, sections = sections_of(data)
    assert head.startswith(b"ML\xefR")
    assert len(sections) > 3
    changed = [mutate_bytecode(data, Random(seed)) for seed in range(50)]
    assert len({*changed, data}) > 40


def test_changed_texts_differ() -> None:
    assert len({mutate_tokens(TEXT.encode(), [TEXT.encode()], Random(seed)) for seed in range(50)}) > 40
