"""Keeps a few pairs of programs for one device and for several, and mistakes of them, for the tests.

`python -m tests.corpus.keep_sharded PAIRS` reads the folders that make_sharded writes, and writes sharded_pairs/NAME/
with a.mlir, b.hlo or b.mlir, placements.json, and two mistakes `KIND.hlo` or `KIND.mlir`, of as many kinds as possible.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.campaign_sharded.planting import plant
from tests.corpus.compiling import configure_jax
from tests.corpus.sharded.running import program_file

HERE = Path(__file__).resolve().parent / "sharded_pairs"
KEPT = (
    "column_and_row_by_hand.cpu-shardy",
    "causal_mask_of_a_part.sdy",
    "devices_in_another_order.partitioned-cpu-gspmd",
    "gradient_of_weights_gathered_by_hand.gpu-shardy",
    "halo_of_a_stencil.tpu-shardy",
    "product_on_a_grid.cpu-gspmd",
    "product_of_blocks.full-to-shard",
    "rolled_by_permutes.sdy",
    "sequence_is_gathered_and_scattered.cpu-gspmd",
    "tokens_to_experts_and_back.gpu-shardy",
)
_MISTAKES = 2
# So many are planted, to choose from.
_PLANTED = 100


def keep(name: str, pairs: Path, planted: Path, used: Counter[str]) -> None:
    """Writes the folder of one pair, with mistakes of the kinds that are used least."""
    source, folder = pairs / name, HERE / name
    folder.mkdir(parents=True)
    program = program_file(source)
    for file in ("a.mlir", program.name, "placements.json"):
        shutil.copy(source / file, folder)
    found = {json.loads((each / "meta.json").read_text("utf-8"))["mistake"]: each for each in planted.glob(f"{name}.*")}
    for kind in sorted(found, key=lambda kind: (used[kind], kind))[:_MISTAKES]:
        shutil.copy(program_file(found[kind]), folder / f"{kind.replace(' ', '-')}{program.suffix}")
        used[kind] += 1


def main() -> int:
    """Writes the folders of all kept pairs."""
    configure_jax()
    pairs, used = Path(sys.argv[1]), Counter[str]()
    shutil.rmtree(HERE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as planted:
        plant([pairs / name for name in KEPT], Path(planted), _PLANTED)
        for name in KEPT:
            keep(name, pairs, Path(planted), used)
    return 0


if __name__ == "__main__":
    sys.exit(main())
