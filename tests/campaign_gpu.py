"""Compiles programs for NVIDIA GPUs, runs their dumps on this machine's CPU and compares: `make campaign-gpu`.

`python -m tests.campaign_gpu [NAME ...] [--gpu GPU ...] [--dumps DIR]` needs JAX's CUDA plugin but no GPU. Each program
is compiled for each GPU with and without Triton. The text must be printed byte for byte, and the verifier must accept
it; then it is made portable and run, and the outputs are compared with JAX's. With --dumps the dumps are those of
DIR/GPU and DIR/GPU-no-triton as `make_gpu_dumps` writes them, and nothing is compiled.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path

from dialect_utils.execution import entry_arrays, prepare
from dialect_utils.hlo import HloModule
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.expectation import allowances, measure, precision_of
from passes.dumps.executable import Known
from passes.framework.pipeline import verify
from relayout.running.compared import Compared
from relayout.running.ready import Forms
from tests.conftest import Workers
from tests.passes.dump_files import UNOPTIMIZED, Dump, arrays_of

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "campaign_gpu"
GPUS = ("h100", "a100", "b200")
_SHOWN = 300


def outcome(folder: Path, workers: Workers) -> str:
    """Returns `matches`, or what is wrong with a dump."""
    dump = Dump(folder, "gpu.hlo")
    try:
        module = dump.module()
        if module.text() != dump.text():
            return "PRINTED with other bytes"
        verify(module)
        found = differences(dump, workers)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        return f"REFUSED: {first.message[:_SHOWN]}"
    except Exception as error:  # a crash of one program must not cost the others
        return f"FAILED: {type(error).__name__}: {str(error)[:_SHOWN]}"
    return f"DIFFERS: {'; '.join(found)}" if found else "matches"


def differences(dump: Dump, workers: Workers) -> list[str]:
    """Returns the outputs that `relayout run --expect` finds not as expected by the precision of the dump."""
    forms = Forms(dump.text().encode(), dump.name, (), Known())
    assert isinstance(forms.module, HloModule)  # the executable form of a dump is HLO
    devices, (parameters, results) = devices_of(forms.module).count, entry_arrays(forms.module)
    inputs = arrays_of(dump, "in", parameters, "inputs", devices)
    expected = arrays_of(dump, "out", results, "outputs", devices)
    worker = workers[devices]
    outputs = worker.run(prepare(forms.module, dump.name), [inputs], options=UNOPTIMIZED)[0]
    allowed = allowances(precision_of(forms.dump), results, expected)
    found = zip(outputs, expected, results, allowed, strict=True)
    if all(measure(out, wanted, shape.element_type, each).equal for out, wanted, shape, each in found):
        return []
    distances = Compared(forms, worker, devices, outputs, expected, results, inputs).by_precision()
    return [f"out{i}: {each}" for i, each in enumerate(distances) if not each.equal]


def compiled(names: list[str], gpu: str, triton: bool) -> Path:
    """Compiles the programs for one GPU and returns the folder of their dumps."""
    from tests.corpus.compiling import make_each
    from tests.corpus.make_gpu_dumps import make_dump, programs

    known, out = programs(), BUILD / _folder(gpu, triton)
    make_each(names or known, lambda name: make_dump(known[name], out / name, gpu, triton=triton))
    return out


def _folder(gpu: str, triton: bool) -> str:
    return gpu if triton else f"{gpu}-no-triton"


def main() -> int:
    """Runs the campaign and prints a line a program; returns 1 where one does not match."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all)")
    parser.add_argument("--gpu", nargs="+", choices=GPUS, default=GPUS, help="GPUs (default: all)")
    parser.add_argument("--dumps", type=Path, metavar="DIR", help="dumps to read instead of compiling")
    given = parser.parse_args()
    workers = Workers()
    counts: Counter[str] = Counter()
    if given.dumps is None:
        shutil.rmtree(BUILD, ignore_errors=True)
        from tests.corpus.compiling import configure_jax

        configure_jax()
    for gpu, triton in ((gpu, triton) for gpu in given.gpu for triton in (True, False)):
        kind = _folder(gpu, triton)
        made = given.dumps / kind if given.dumps is not None else compiled(given.names, gpu, triton)
        for folder in sorted(path.parent for path in made.glob("*/gpu.hlo")):
            if given.names and folder.name not in given.names:
                continue
            told = outcome(folder, workers)
            counts[f"{kind}: {told.split(':')[0]}"] += 1
            print(f"{kind} {folder.name}: {told}", flush=True)
    for worker in workers.values():
        worker.close()
    print("\n".join(f"{told}: {count}" for told, count in sorted(counts.items())))
    return int(any(not told.endswith(": matches") for told in counts))


if __name__ == "__main__":
    sys.exit(main())
