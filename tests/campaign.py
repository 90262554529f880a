"""Runs every pass over whole directories of programs and prints a table: `make campaign`.

`python -m tests.campaign [DIR ...]`; without arguments the corpora of this tree, and those of
`../shared` where they are. A pass keeps a program where executing both dialects gives the same
results, or where it changes nothing; an optimized dump has to verify after each pass.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from dialect_utils.execution import Worker
from dialect_utils.io.files import read_module
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_stages
from passes.dumps.executable import executable_form, is_optimized_dump
from passes.framework.base import load_pass, pass_names
from passes.framework.pipeline import Pipeline, PipelineResult, verify

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("tests/corpus/stablehlo", "tests/corpus/tpu", "examples", "../shared/corpus")
LAID_OUT = "annotate-layouts{target=tpu-v5e}"
EXPANDED = f"{LAID_OUT},expand-tiling"
PHYSICAL = f"{LAID_OUT},expand-tiling{{interface=physical}},propagate-physical,cancel-relayouts"
# The passes that give a pass work on a program without layouts.
BEFORE = {
    "fold-tiling": f"{EXPANDED},",
    "propagate-physical": f"{EXPANDED},",
    "cancel-relayouts": f"{EXPANDED},",
    "verify-layouts": "",
    "annotate-layouts": "",
}


def specs(module: Module) -> Iterator[tuple[str, str]]:
    """Yields (column, pipeline) for every pass that reads the module's dialect."""
    for name in pass_names():
        if module.dialect in load_pass(name).dialects:
            options = "{target=tpu-v5e}" if name == "annotate-layouts" else ""
            yield name, f"{BEFORE.get(name, f'{LAID_OUT},')}{name}{options}"
    yield "expand-tiling physical", f"{LAID_OUT},expand-tiling{{interface=physical}}"
    yield "annotate, expand, propagate, cancel", PHYSICAL


def outcome(module: Module, spec: str, worker: Worker, *, execute_dumps: bool) -> str:
    """Returns `unchanged`, `equal`, `different`, `verifies` or why the pass or the engine refuses."""
    try:
        result = Pipeline.parse(spec).run(module)
        if not result.modified:
            return "unchanged"
        verify(result.module)
        if is_optimized_dump(module) and not execute_dumps:
            return "verifies"
        return compare_stages(stages(module, result), Options(), worker).verdict
    except DiagnosticError as error:
        return f"refused: {error.diagnostics[0].message}"
    except Exception as error:  # a defect of the pass: the campaign counts it and goes on
        return f"crash: {type(error).__name__}: {error}"


def stages(module: Module, result: PipelineResult) -> list[Module]:
    """Returns the module and what each pass made of it, first and last in a form that executes."""
    first, last = executable_form(module), executable_form(result.module)
    return [first, module, *(run.result.module for run in result.runs), last]


def fold_of_expand(module: Module) -> str:
    """Returns whether fold-tiling gives back what expand-tiling took."""
    try:
        laid_out = Pipeline.parse(LAID_OUT).run(module).module
        for interface in ("logical", "physical"):
            spec = f"expand-tiling{{interface={interface}}},fold-tiling"
            if Pipeline.parse(spec).run(laid_out).module.text() != laid_out.text():
                return f"different ({interface})"
    except DiagnosticError as error:
        return f"refused: {error.diagnostics[0].message}"
    except Exception as error:  # as above
        return f"crash: {type(error).__name__}: {error}"
    return "the same text"


def class_of(module: Module) -> str:
    """Returns the class of programs that a file belongs to."""
    if module.dialect == "hlo":
        return "optimized dumps" if is_optimized_dump(module) else "HLO text"
    checks_itself = any(op.callee and op.callee.startswith("check.") for op in module.entry.operations)
    return "self-checking StableHLO" if checks_itself else "StableHLO"


def files(roots: Sequence[Path]) -> Iterator[Path]:
    """Yields every module below the roots."""
    for root in roots:
        yield from sorted(p for p in root.rglob("*") if p.suffix in (".mlir", ".hlo") and "Inputs" not in p.parts)


def main() -> int:
    """Prints the table; returns 1 where a pass changed what a program computes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--execute-dumps", action="store_true", help="execute optimized dumps, too: hours")
    arguments = parser.parse_args()
    roots = arguments.directories or [ROOT / place for place in PROGRAMS]
    table: dict[tuple[str, str], Counter[str]] = {}
    wrong = 0
    with Worker() as worker:
        for path in files(roots):
            try:
                module = read_module(str(path))
                verify(module)
            except DiagnosticError as error:
                print(f"{path}: {error.diagnostics[0].message}", file=sys.stderr)
                continue
            found = {
                column: outcome(module, spec, worker, execute_dumps=arguments.execute_dumps)
                for column, spec in specs(module)
            }
            found["fold(expand(m))"] = fold_of_expand(module)
            for column, result in found.items():
                table.setdefault((class_of(module), column), Counter())[result] += 1
                if result.startswith(("different", "unknown", "refused", "crash")):
                    print(f"{path}: {column}: {result}", file=sys.stderr, flush=True)
                wrong += result.startswith(("different", "crash"))
    for (kind, column), counts in sorted(table.items()):
        print(f"{kind:24} {column:36} {', '.join(f'{count} {what}' for what, count in counts.most_common())}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
