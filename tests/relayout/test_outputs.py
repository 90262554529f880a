"""The output of commands on the examples, line by line.

RELAYOUT_OUTPUTS=write writes tests/relayout/outputs again; the difference shows the change.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

from relayout.cli import main
from tests.paths import ROOT

OUTPUTS = ROOT / "tests" / "relayout" / "outputs"
IS_WRITING = os.environ.get("RELAYOUT_OUTPUTS") == "write"
TPU = "annotate-layouts{target=tpu-v5e}"
SHAPES = {
    "tiled": "f32[3,5]{1,0:T(2,2)}",
    "packed": "bf16[100,200]{1,0:T(8,128)(2,1)}",
    "four-bits": "s4[20,200]{0,1:T(8,128)(8,1)E(4)S(1)}",
    "three": "f32[2,3,5]{0,2,1:T(4,8)}",
    "combined": "f32[2,3,5]{2,1,0:T(*,4)}",
    "vector": "u8[700]{0:T(512)(128)(4,1)}",
    "aligned": "f32[7,2]{1,0:T(4)L(16)}",
    "tuple": "(f32[3], (s32[2,2]{0,1}, token[]))",
    "scalar": "pred[]",
    "bounded": "f32[<=8,3]{1,0:T(8,128)}",
    "empty": "f32[0,4]",
    "exact": "f32[8,256]{1,0:T(8,128)}",
}
BITCASTS = {
    "relabel": ("f32[3,5]", "f32[15]"),
    "reorder": ("f32[3,5]{0,1}", "f32[3,5]{1,0}"),
    "padding": ("f32[3,5]{1,0:T(2,2)}", "f32[24]"),
    "tiles": ("f32[16,128]{1,0:T(8,128)}", "f32[2,8,128]"),
    "types": ("bf16[8,2]", "f32[8]"),
    "sizes": ("f32[3]", "f32[5]"),
}
EXAMPLES = ("attention", "attention_tpu", "forces_tpu", "training_step", "forces_by_coordinate_tpu")
PIPELINES = {
    "attention.hlo": (TPU, f"{TPU},expand-tiling", f"{TPU},expand-tiling{{interface=physical}},cancel-relayouts"),
    "attention.mlir": (TPU, f"{TPU},expand-tiling", f"{TPU},normalize-layouts", f"{TPU},expand-tiling,fold-tiling"),
    "training_step.hlo": (f"{TPU},normalize-layouts", f"{TPU},expand-tiling,fold-tiling", f"{TPU},propagate-layouts"),
    "training_step.mlir": (f"{TPU},expand-tiling,propagate-physical,cancel-relayouts", f"{TPU},propagate-layouts"),
    "attention_tpu.hlo": ("make-portable", "inline-fusions", "expand-bitcasts", "form-bitcasts"),
    "forces_tpu.hlo": ("make-portable", "convert-async-to-sync", "legalize-types", "lower-convolutions"),
    "forces_by_coordinate_tpu.hlo": ("make-portable", "expand-bitcasts", "expand-tiling", "inline-fusions"),
}
COMMANDS: dict[str, list[str]] = {
    **{f"explain-{name}": ["explain", text] for name, text in SHAPES.items()},
    **{f"explain-json-{name}": ["explain", text, "--json"] for name, text in SHAPES.items()},
    **{
        f"picture-{name}": ["explain", SHAPES[name], "--picture", "terminal"]
        for name in ("tiled", "packed", "four-bits", "three", "aligned")
    },
    **{f"svg-{name}": ["explain", SHAPES[name], "--picture", "svg"] for name in ("tiled", "packed", "three")},
    "picture-window": ["explain", SHAPES["packed"], "--picture", "terminal", "--window", "0:10,120:140"],
    "explain-target": ["explain", "bf16[100,200]", "--target", "tpu-v4"],
    "index": ["explain", "--index", SHAPES["tiled"], "2,3"],
    "index-json": ["explain", "--index", SHAPES["packed"], "9,130", "--json"],
    "index-linear": ["explain", "--index", SHAPES["tiled"], "--linear", "7", "5"],
    **{f"bitcast-{name}": ["explain", "--bitcast", *pair] for name, pair in BITCASTS.items()},
    **{f"bitcast-xla-{name}": ["explain", "--bitcast", *pair, "--xla"] for name, pair in BITCASTS.items()},
    **{f"bitcast-json-{name}": ["explain", "--bitcast", *pair, "--json"] for name, pair in BITCASTS.items()},
    **{f"report-{name}": ["report", f"{name}.hlo", "--width", "160"] for name in EXAMPLES},
    **{f"report-json-{name}": ["report", f"{name}.hlo", "--json"] for name in EXAMPLES},
    "report-against": ["report", "forces_by_coordinate_tpu.hlo", "--against", "forces_tpu.hlo", "--width", "160"],
    **{
        f"report-file-{name}-{suffix}": ["report", f"{name}.hlo", "-o", f"OUT.{suffix}"]
        for name in ("attention", "forces_tpu")
        for suffix in ("dot", "nodes", "json", "html")
    },
    "report-against-json": ["report", "forces_by_coordinate_tpu.hlo", "--against", "forces_tpu.hlo", "--json"],
    "report-against-file": ["report", "forces_by_coordinate_tpu.hlo", "--against", "forces_tpu.hlo", "-o", "OUT.html"],
    **{
        f"report-dump-{name}": ["report", f"../tests/corpus/tpu/{name}/tpu.hlo", "--width", "160"]
        for name in ("complex_in_loop", "cholesky_solve", "gather_variants", "cached_decode_step", "conv_net_gradient")
    },
    "report-stablehlo": ["report", "attention.mlir"],
    "report-target": ["report", "attention_tpu.hlo", "--target", "tpu-v5e", "--width", "120"],
    **{
        f"opt-{file}-{number}": ["opt", file, "-p", spec]
        for file, specs in PIPELINES.items()
        for number, spec in enumerate(specs)
    },
    "opt-locations": ["opt", "attention.mlir", "-p", TPU, "--locations"],
    "opt-json": ["opt", "negate.hlo", "-p", "expand-tiling", "--json"],
    "opt-changed": ["opt", "negate.hlo", "-p", "expand-tiling,fold-tiling", "--print-changed"],
}
# A longer output is kept as its number of lines and its digest.
LONGEST = 60


def kept(text: str) -> str:
    """Returns the text to compare: without seconds and paths of this machine; of a long one the digest."""
    text = re.sub(r'"seconds": ?[\d.e-]+', '"seconds": 0', text).replace(str(ROOT), "ROOT")
    lines = text.splitlines()
    if len(lines) <= LONGEST and len(text) < 100 * LONGEST:
        return text
    return f"{len(lines)} lines, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_is_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "examples")
    monkeypatch.setenv("COLUMNS", "120")
    status = main([each.replace("OUT", f"{tmp_path}/out") for each in COMMANDS[name]])
    out, err = capfd.readouterr()
    written = "".join(file.read_text("utf-8") for file in sorted(tmp_path.iterdir()))
    found = kept(f"{out}{err}{written}exit code {status}\n".replace(str(tmp_path), "TMP"))
    file = OUTPUTS / f"{name}.txt"
    if IS_WRITING:
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")


def test_every_kept_output_has_its_command() -> None:
    assert {file.stem for file in OUTPUTS.glob("*.txt")} == {*COMMANDS}


def test_another_output_is_another_text() -> None:
    long = "a\n" * (LONGEST + 1)
    assert kept(long) != kept(long.replace("a", "b", 1))
    assert kept('{"seconds": 0.12}') == kept('{"seconds": 3e-05}')
