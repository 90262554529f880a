"""Compiles programs for TPUs, runs their dumps on this machine's CPU and compares: `make campaign-dumps`.

`python -m tests.campaign_dumps [NAME ...]` needs the `tpu` extra but no TPU. Each program of tests/corpus/campaign is
compiled by libtpu (where jaxlib cannot print the module, the compiler writes its text itself), made portable and run;
the outputs are compared with JAX's. A refusal counts as right where the program says that it is refused.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from pathlib import Path

from dialect_utils.text import DiagnosticError
from tests.conftest import Workers

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "campaign_dumps"
TEXTS = BUILD / "texts"


def outcome(folder: Path, refused: str, workers: Workers) -> str:
    """Returns `matches`, `refused by name`, or what is wrong."""
    from tests.passes.dump_files import Dump, run

    try:
        found = run(Dump(folder), workers)
    except DiagnosticError as error:
        told = str(error.diagnostics[0].message)
        return "refused by name" if refused and refused in told else f"REFUSED: {told}"
    if refused:
        return "RUNS, although it says that it is refused"
    return f"DIFFERS: {'; '.join(found)}" if found else "matches"


def main() -> int:
    """Runs the campaign and prints a line a program; returns 1 where one is not as it should be."""
    shutil.rmtree(BUILD, ignore_errors=True)
    # libtpu reads this once, as it starts.
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={TEXTS} --xla_dump_hlo_as_text --xla_dump_large_constants"
    from tests.corpus.campaign import CAMPAIGN
    from tests.corpus.compiling import configure_jax
    from tests.corpus.make_tpu_dumps import make_dump

    configure_jax()
    workers = Workers()
    counts: Counter[str] = Counter()
    for name in sys.argv[1:] or CAMPAIGN:
        folder = BUILD / name
        try:
            make_dump(CAMPAIGN[name], folder, TEXTS)
            told = outcome(folder, CAMPAIGN[name].refused, workers)
        except Exception as error:  # a compiler's refusal of one program must not cost the others
            told = f"{type(error).__name__}: {str(error)[:300]}"
        counts[told.split(":")[0]] += 1
        print(f"{name}: {told}", flush=True)
    for worker in workers.values():
        worker.close()
    print(", ".join(f"{count} {told}" for told, count in counts.most_common()))
    return int(not set(counts) <= {"matches", "refused by name"})


if __name__ == "__main__":
    sys.exit(main())
