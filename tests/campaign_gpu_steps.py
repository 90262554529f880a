"""Validates compilations for a GPU, sound and falsified: `python -m tests.campaign_gpu_steps DIR ...`.

Each DIR holds the modules of all passes of one program, as `python -m tests.corpus.make_gpu_dumps NAME --passes`
writes them. A step is judged as `relayout validate` does. In each compilation one edit, of the kinds of mistakes that
compilers make, is planted in the second module of a step; no falsified step may be `equal`, and no sound step may be
`different`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dialect_utils.execution import Worker
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.verdict import Options
from relayout.validation.judging import Judge
from relayout.validation.steps import TEXT, Step, StepResult, find_steps

_SECONDS = 30.0
_TIMEOUT = 60.0
# Digits, locations and names of files, which no verdict depends on.
_VARIABLE = re.compile(r"/\S*/|[\w.-]*module_\d+\S*|%?[\w-]+\.\d+|\d+")


def _first(pattern: str, new: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern), new


# Mistakes of compilers, as edits of the text of one module: a pattern, and the text in its place.
EDITS = {
    "wrong operand": _first(r"(= \S+ subtract\()(%?[\w.-]+), (%?[\w.-]+)\)", r"\1\3, \2)"),
    "wrong operand of a select": _first(r"(= \S+ select\(%?[\w.-]+, )(%?[\w.-]+), (%?[\w.-]+)\)", r"\1\3, \2)"),
    "dropped alpha": _first(r'"alpha_real":(?!0,)[\d.]+', '"alpha_real":3'),
    "dropped beta": _first(r'"beta":0', '"beta":1'),
    "dropped activation": _first(r'"activation_mode":"kRelu"', '"activation_mode":"kNone"'),
    "dropped epilogue": _first(r'"epilogue":"(?:BIAS_RELU|RELU|BIAS|GELU|BIAS_GELU)"', '"epilogue":"DEFAULT"'),
    "wrong scale": _first(r'"conv_result_scale":1', '"conv_result_scale":2'),
    "wrong contraction": _first(r'"(l|r)hs_contracting_dimensions":\["1"\]', r'"\1hs_contracting_dimensions":["0"]'),
    "transposed contraction": _first(r"lhs_contracting_dims=\{1\}", "lhs_contracting_dims={0}"),
    "wrong window": _first(r"pad=1_1x", "pad=2_0x"),
    "shifted slice": _first(r"slice=\{\[1:(\d+)\]", r"slice={[0:\1]"),
    "wrong dimensions of a reduction": _first(r"(reduce\([^\n]*dimensions=)\{1\}", r"\1{0}"),
    "wrong reduction": _first(r"(ROOT %?[\w.-]+ = [a-z0-9]+\[\] )add\(", r"\1multiply("),
    "wrong direction": _first(r"direction=GT", "direction=GE"),
    "wrong comparison": _first(r"direction=LT", "direction=GT"),
    "wrong constant": _first(r"constant\(0\.5\)", "constant(0.25)"),
    "wrong function": _first(r"(= \S+ )tanh\(", r"\1sine("),
    "dropped exponential": _first(r"(= \S+ )exponential\(", r"\1copy("),
    "wrong iota": _first(r"(iota\(\), iota_dimension=)1", r"\g<1>0"),
    "wrong groups": _first(r"replica_groups=\{\{0,1,2,3\}\}", "replica_groups={{0,1},{2,3}}"),
    "wrong groups of an iota": _first(r"replica_groups=\[1,4\]<=\[4\]", "replica_groups=[2,2]<=[4]"),
    "wrong extreme": _first(r"(= \S+ )maximum\(", r"\1minimum("),
    "dropped negation": _first(r"(= \S+ )negate\(", r"\1copy("),
}


def planted(step: Step, edit: str) -> Step | None:
    """Returns a step whose second module has an edit at its last match; None where the text does not match."""
    pattern, new = EDITS[edit]
    text = step.after.data().decode()
    matches = [*pattern.finditer(text)]
    if not matches:
        return None
    last = matches[-1]
    changed = text[: last.start()] + last.expand(new) + text[last.end() :]
    return replace(
        step, after=Input(f"{step.after.path}.{edit}", step.after.path, kind="hlo text", content=changed.encode())
    )


def falsified(steps: Sequence[Step], most: int) -> Iterator[tuple[str, Step]]:
    """Yields at most so many edits of one compilation, each in another step that a proof or an engine judges."""
    changed = [each for each in steps if not each.is_whole and each.before.data() != each.after.data()]
    count = 0
    for number, edit in enumerate(EDITS):
        found = (planted(each, edit) for each in changed[number % max(1, len(changed)) :])
        step = next((each for each in found if each is not None), None)
        if step is not None and count < most:
            count += 1
            yield edit, step


def _kind(result: StepResult) -> str:
    if result.verdict != "equal":
        return result.verdict
    return "proved" if {TEXT, "proof"} & {*result.methods} else "equal by execution"


def main() -> int:
    """Prints the tables; returns 1 for a sound step that is different, or a falsified one that is equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--mistakes", type=int, default=2, help="the most mistakes planted in each compilation")
    parser.add_argument("--only-mistakes", action="store_true", help="judge no sound step")
    parser.add_argument("--results", type=Path, help="append a row of JSON for each step")
    given = parser.parse_args()
    totals, reasons, mistakes, wrong = Counter[str](), Counter[str](), Counter[str](), list[str]()
    with Worker() as worker:
        for folder in given.folders:
            judge = Judge(Options(power=0, timeout=_TIMEOUT), worker)
            steps = find_steps(find_inputs([str(folder)]).modules, str(folder))
            start, own = time.process_time(), Counter[str]()
            for step in [] if given.only_mistakes else steps:
                found = judge.judge(step, _SECONDS)
                kind = _kind(found)
                own["whole " * step.is_whole + kind] += 1
                if kind == "unknown":
                    reasons[_VARIABLE.sub("_", found.reason)[:120]] += 1
                if kind == "different":
                    wrong.append(f"sound but different: {folder.name}: {found.label}: {found.reason[:200]}")
                _write(given.results, folder, "", found)
            for edit, step in falsified(steps, given.mistakes):
                found = judge.judge(step, _SECONDS)
                mistakes[_kind(found)] += 1
                print(f"  {folder.name}: {edit} in {step.change}: {found.answer}", flush=True)
                if found.verdict == "equal":
                    wrong.append(f"falsified but equal: {folder.name}: {edit} in {found.label}: {found.reason[:200]}")
                _write(given.results, folder, edit, found)
            totals += own
            print(f"{folder.name}: {dict(own)}, {time.process_time() - start:.0f} CPU seconds", flush=True)
    print(f"sound: {dict(totals)}", f"falsified: {dict(mistakes)}", *wrong, sep="\n")
    print("unknown:", *(f"  {count} {reason}" for reason, count in reasons.most_common()), sep="\n")
    return 1 if wrong else 0


def _write(results: Path | None, folder: Path, edit: str, found: StepResult) -> None:
    if results is not None:
        with results.open("a") as file:
            file.write(json.dumps({**found.as_json(), "program": folder.name, "edit": edit}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
