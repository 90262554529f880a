"""Readers of mutated programs raise nothing but DiagnosticError, and point into the text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.pipeline import verify
from tests.paths import OWN_CORPUS

TOKEN = re.compile(r'"[^"\n]*"|[\w.%@-]+|\s+|.')
# Pieces that break a reader which splits text by regular expressions, or passes it to int().
SPLICES = (
    *"(){}[],=\"'%@#<>*?\r\t\x00\u00b2\u0663\u2028",
    "/*",
    "//",
    "->",
    "ROOT",
    "HloModule",
    "parameter()",
    "constant",
    "-1",
    "9" * 5000,
    "1e999",
    "tensor<",
    "loc(",
    "T(8,128)",
    "\udcff",
)
LARGEST = 6_000
MUTANTS = 500


def programs(suffix: str) -> list[list[str]]:
    texts = (path.read_text("utf-8") for path in sorted(OWN_CORPUS.rglob(f"*{suffix}")))
    return [TOKEN.findall(text) for text in texts if len(text) < LARGEST]


def mutated(tokens: list[str], chance: random.Random) -> str:
    result = list(tokens)
    for _ in range(chance.choice((1, 1, 2, 4))):
        i, j = chance.randrange(len(result)), chance.randrange(len(result))
        result[i : i + 1] = chance.choice(
            ([], [result[i]] * 2, [result[j]], [chance.choice(SPLICES)], [result[i], chance.choice(SPLICES)])
        )
        if not result or chance.random() < 0.05:
            result = result[: i + 1] or tokens
    return "".join(result)


def placed(diagnostics: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from placed(diagnostic.notes)


@pytest.mark.parametrize(("suffix", "seed"), [(".hlo", 1), (".mlir", 2)])
def test_mutants_are_read_or_refused(suffix: str, seed: int) -> None:
    chance = random.Random(seed)
    originals = programs(suffix)
    refused = 0
    for _ in range(MUTANTS):
        text = mutated(chance.choice(originals), chance)
        try:
            verify(parse_bytes(text.encode("utf-8", "surrogateescape"), "mutant"))
        except DiagnosticError as error:
            refused += 1
            for diagnostic in placed(error.diagnostics):
                assert diagnostic.message
                if diagnostic.location is not None:
                    span = diagnostic.location.span
                    assert 0 <= span.start <= span.end <= len(diagnostic.location.source.text), text
    assert MUTANTS // 4 < refused < MUTANTS
