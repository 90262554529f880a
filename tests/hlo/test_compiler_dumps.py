"""Every text that the installed jaxlib writes while it compiles is read, verified and printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialect_utils.hlo import HloModule, parse_module
from passes.framework.pipeline import Pipeline
from tests.paths import ROOT

PROGRAMS = Path(__file__).with_name("compiled_programs.py")
FLAGS = (
    "--xla_dump_hlo_as_text --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=.* --xla_force_host_platform_device_count=4"
)
# At least this many texts; that many does every jaxlib from 0.10 on write.
FEWEST = 150


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("dump")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_dump_to={folder} {FLAGS}"}
    result = subprocess.run(
        [sys.executable, str(PROGRAMS)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    found = {path.name: path.read_bytes().decode() for path in sorted(folder.glob("*.txt"))}
    # Others are reports and options.
    return {name: text for name, text in found.items() if text.startswith("HloModule")}


def verified(module: HloModule) -> HloModule:
    Pipeline.parse("verify-layouts").run(module)
    return module


def test_there_are_texts_of_every_kind(texts: dict[str, str]) -> None:
    assert len(texts) >= FEWEST
    everything = "".join(texts.values())
    for opcode in (
        "while",
        "sort",
        "conditional",
        "all-reduce",
        "collective-permute",
        "all-to-all",
        "fusion",
        "reduce",
    ):
        assert f" {opcode}(" in everything, opcode


def test_every_text_is_read_verified_and_printed(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        module = verified(parse_module(text, name))
        assert module.text() == text, name
        # The printed text has the same meaning: tuple elements get instructions of their own.
        for computation in module.computations:
            computation.mark_edited(*computation.instructions)
        printed = module.text()
        again = verified(parse_module(printed, name))
        assert again.text() == printed, name
        assert [[item.opcode for item in c.instructions] for c in again.computations] == [
            [item.opcode for item in c.instructions] for c in module.computations
        ], name
