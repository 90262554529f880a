"""Compares predicted layouts with those of the compiler: `make campaign-layouts DUMPS=DIR TARGET=tpu-v5e`.

`python -m tests.campaign_layouts TARGET DIR` reads the modules before and after layout assignment in directories that
`--xla_dump_hlo_pass_re=.*` has written, and prints the shares of orders, tiles and copies that
`annotate-layouts{inner=predicted}` finds, by operation.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dialect_utils.io.files import read_module
from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.targets.known import TARGETS, TargetName
from passes.layouts.annotate_layouts import annotate_layouts

_NAME = re.compile(r"(module_\d+\.[^.]*)\.(?:cl_\d+\.)?\d+\.(.*)")
_BEFORE = ("before_layout-assignment", "layout_assignment.after_pipeline-start.before_flatten-call-graph")
Position = tuple[str, int]


class Score(NamedTuple):
    """Counts by operation: arrays, and those with the right order, the right tiles, and the default order."""

    arrays: Counter[str]
    orders: Counter[str]
    tiles: Counter[str]
    default: Counter[str]
    # Copies that the compiler inserted, that are predicted, and both.
    copies: Counter[str]


def pairs(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yields the modules before and after layout assignment, the last ones of each compilation."""
    found: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.rglob("*.txt")):
        if (match := _NAME.match(path.name)) is not None:
            texts = found.setdefault((str(path.parent), match[1]), {})
            if any(each in match[2] for each in _BEFORE):
                texts["before"] = path
            elif "after_layout-assignment" in match[2]:
                texts["after"] = path
    return ((each["before"], each["after"]) for each in found.values() if len(each) == len(("before", "after")))


def arrays(module: Module) -> dict[Position, tuple[Value, ArrayShape]]:
    """Returns the arrays of two and more dimensions inside of a module, by name and leaf."""
    return {
        (value.name, number): (value, leaf)
        for function in module.functions
        if not function.is_embedded
        for value in function.values()
        if not (function.is_entry and value.operation is None)
        for number, leaf in enumerate(value.shape.leaves())
        if isinstance(leaf, ArrayShape) and leaf.is_static and leaf.rank > 1
    }


def copies(module: Module, names: set[str]) -> set[tuple[str, int]]:
    """Returns the operands, as user and number, that are copies with other names than `names`."""
    return {
        (operation.results[0].name, number)
        for function in module.functions
        for operation in function.operations
        for number, value in enumerate(operation.operands)
        if value.operation is not None and value.operation.opcode == "copy" and value.name not in names
    }


def measure(before: Path, after: Path, target: TargetName, score: Score) -> None:
    """Adds one program to the counts."""
    source, result = read_module(str(before)), read_module(str(after))
    predicted = annotate_layouts.with_options(target=target, inner="predicted").run(source).module
    plain = arrays(annotate_layouts.with_options(target=target).run(source).module)
    found, real = arrays(predicted), arrays(result)
    for position, (value, _) in arrays(source).items():
        opcode = value.operation.opcode if value.operation is not None else "parameter"
        if position not in real or opcode == "tuple" or real[position][1].dimensions != found[position][1].dimensions:
            continue
        want, have = real[position][1].effective_layout, found[position][1].effective_layout
        score.arrays[opcode] += 1
        score.orders[opcode] += want.minor_to_major == have.minor_to_major
        score.tiles[opcode] += want.minor_to_major == have.minor_to_major and want.tiles == have.tiles
        score.default[opcode] += want.minor_to_major == plain[position][1].effective_layout.minor_to_major
    names = {value.name for value in source.values()}
    want_copies, have_copies = copies(result, names), copies(predicted, names)
    score.copies.update(inserted=len(want_copies), predicted=len(have_copies), both=len(want_copies & have_copies))


def main() -> int:
    """Prints the table; returns 1 where no pair is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    score, programs, failed = Score(*(Counter() for _ in Score._fields)), 0, 0
    for before, after in pairs(given.folder):
        try:
            measure(before, after, given.target, score)
            programs += 1
        except Exception as error:  # one program must not cost the others
            failed += 1
            print(f"{before.parent.name}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    print(f"{programs} programs, {failed} failed; copies: {dict(score.copies)}")
    for opcode in ["all", *(name for name, _ in score.arrays.most_common())]:
        counted = [sum(each.values()) if opcode == "all" else each[opcode] for each in score[:-1]]
        count, *right = counted
        share = [100 * each / max(1, count) for each in right]
        order, tile, default = (f"{each:5.1f} %" for each in share)
        print(f"{opcode:<28}{count:>6} arrays, order {order}, tiles {tile}, default {default}")
    return int(not programs)


if __name__ == "__main__":
    sys.exit(main())
