"""Plants mistakes in programs for several devices.

`python -m tests.campaign_sharded.planting PAIRS -o DIR [--count N]` reads pairs as make_sharded writes them.
Each kind of mistake takes its turn, at places drawn by chance. Every planted program is run on host devices: it stays
only if its outputs, assembled, differ from those of the program for one device, also by more than rounding.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from dialect_utils.hlo import parse_module as parse_hlo
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import verify
from tests.campaign_sharded.mistakes import MISTAKES, Program
from tests.corpus.sharded.running import Runs, program_file

COUNT = 420
# So many places of one kind are tried in a program.
_PLACES = 3
_KEPT = ("a.mlir", "source.mlir", "placements.json", "data.npz")


def candidates(folder: Path, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yields (kind, text) of the mistakes for one program."""
    path, devices = program_file(folder), json.loads((folder / "meta.json").read_text("utf-8"))["devices"]
    program = Program(path.read_text("utf-8"), devices, is_hlo=path.suffix == ".hlo")
    for kind, edit in MISTAKES.items():
        texts = list(dict.fromkeys(edit(program)))
        yield from ((kind, text) for text in rng.sample(texts, min(_PLACES, len(texts))))


def turns(folders: list[Path], seed: int) -> Iterator[tuple[str, Path, str]]:
    """Yields (kind, folder, text), each kind in turn."""
    rng, found = random.Random(seed), defaultdict(list)
    for folder in folders:
        for kind, text in candidates(folder, rng):
            found[kind].append((kind, folder, text))
    for each in found.values():
        rng.shuffle(each)
    while any(found.values()):
        yield from (each.pop() for each in found.values() if each)


def plant(folders: list[Path], out: Path, count: int, seed: int = 0) -> Counter[str]:
    """Writes so many folders with mistakes, and returns how many of each kind; tells the candidates that do not run."""
    planted: Counter[str] = Counter()
    with Runs() as runs:
        for number, (kind, folder, text) in enumerate(turns(folders, seed)):
            if planted.total() >= count:
                break
            try:
                verify((parse_hlo if program_file(folder).suffix == ".hlo" else parse_stablehlo)(text, folder.name))
                wrong = runs.differences(folder, text)
            except DiagnosticError as error:
                print(f"{kind} in {folder.name}: {error.diagnostics[0].message[:160]}", flush=True)
                continue
            except Exception as error:  # the partitioner rejects some planted programs
                print(f"{kind} in {folder.name}: {type(error).__name__}: {str(error)[:160]}", flush=True)
                continue
            if not wrong:
                print(f"{kind} in {folder.name}: changes nothing", flush=True)
                continue
            planted[kind] += 1
            made = out / f"{folder.name}.{re.sub(' ', '-', kind)}.{number}"
            made.mkdir(parents=True)
            for each in _KEPT:
                shutil.copy(folder / each, made)
            (made / program_file(folder).name).write_text(text, "utf-8")
            meta = json.loads((folder / "meta.json").read_text("utf-8"))
            meta |= {"mistake": kind, "executed": wrong[:8], "pair": folder.name}
            (made / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", "utf-8")
    return planted


def main() -> int:
    """Plants the mistakes and prints how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, metavar="PAIRS", help="folder of correct pairs")
    parser.add_argument("-o", "--out", type=Path, default=Path("build/sharded_bad"), help="folder for the mistakes")
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many (default: {COUNT})")
    given = parser.parse_args()
    from tests.corpus.compiling import configure_jax

    configure_jax()
    shutil.rmtree(given.out, ignore_errors=True)
    metas = sorted(given.pairs.glob("*/meta.json"))
    matching = [path.parent for path in metas if json.loads(path.read_text("utf-8")).get("executed") == "matches"]
    planted = plant(matching, given.out, given.count)
    print("\n".join(f"{kind:32} {count}" for kind, count in sorted(planted.items())))
    print(f"{planted.total()} mistakes of {len(planted)} kinds in {len(matching)} programs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
