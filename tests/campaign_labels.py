"""Attacks on labels: every attribute of every operation, changed, dropped and added, must change what is proved.

`python -m tests.campaign_labels [EVERY]` takes each program in both dialects (every EVERYth of them), changes one
attribute at a time to each other value, and prints a table. A change after which the programs are still proved equal
needs a reason: the declaration says that the attribute cannot affect the result, XLA reads the same module, or the
reference engine computes the same. The exit code is 1 where a change has none.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from jaxlib import _hlo

from dialect_utils.execution import ExecutionError, Worker, prepare
from dialect_utils.hlo import HloModule
from dialect_utils.ir import Function, Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Attribute, attributes_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.proof import try_prove
from tests.campaign_proof import read
from tests.styled_inputs import styled_inputs
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.test_both_dialects import PROGRAMS, as_hlo

_ENTRY = "HloModule m\nENTRY e {{\n  x = f32[16] parameter(0)\n{}}}\n"
# Operations that XLA's translation does not write.
_MORE = {
    "fft of complex numbers": "  c = c64[16] complex(x, x)\n  ROOT r = c64[16] fft(c), fft_type=FFT, fft_length={16}\n",
    "topk": "  t = (f32[4], s32[4]) topk(x), k=4\n  ROOT r = f32[4] get-tuple-element(t), index=0\n",
    "custom-call": '  ROOT r = f32[16] custom-call(x), custom_call_target="f", backend_config="a b"\n',
    "custom-call-start": '  s = ((f32[16]), f32[16], u32[]) custom-call-start(x), custom_call_target="f"\n'
    "  ROOT r = f32[16] custom-call-done(s)\n",
    "collective-permute-start": "  s = (f32[16], f32[16]) collective-permute-start(x), source_target_pairs={{0,0}}\n"
    "  ROOT r = f32[16] collective-permute-done(s)\n",
    "all-gather-start": "  s = (f32[16], f32[16]) all-gather-start(x), dimensions={0}, replica_groups={{0}}\n"
    "  ROOT r = f32[16] all-gather-done(s)\n",
}
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_TRUTH = re.compile(r"\b(?:true|false)\b")
# Values of an attribute that an operation does not have, by kind, in HLO and in StableHLO.
ADDED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "channel": (("0", "1"), ("#stablehlo.channel_handle<handle = 1, type = 1>",)),
    "devices": (("{}", "{{0}}"), ("dense<0> : tensor<1x1xi64>",)),
    "dimensions": (("{}", "{0}"), ("0 : i64", "array<i64: 0>")),
    "flag": (("true", "false"), ("true", "false")),
    "integers": (("0", "1"), ("0 : i64", "1 : i64")),
    "notes": (('{a="b"}', '{_xla_host_transfer_handler_name="f"}'), ('{a = "b"}',)),
    "number": (("1", "2", "true"), ("1 : i64", "2 : i64", "true")),
    "precision": (("{default,default}", "{highest,highest}", "{high,default}"), ()),
    "string": (('""', '"s"'), ('""', '"s"')),
    "text": (("{}", "1"), ('"s"', "1 : i64")),
}
_SEEDS = 3


@dataclass
class Score:
    """The counts of the changes, and those after which nothing justifies that the programs are proved equal."""

    changes: int = 0
    noticed: int = 0
    unused: int = 0
    same_in_xla: int = 0
    same_on_data: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def programs(every: int, only: str) -> Iterator[tuple[str, str]]:
    """Yields the names and texts of programs in both dialects."""
    texts = [*PROGRAMS.items(), *((name, _ENTRY.format(lines)) for name, lines in _MORE.items())]
    for name, text in texts[::every]:
        if only not in name:
            continue
        yield name, text
        if not text.startswith("HloModule"):
            yield name, as_hlo(text)


def operations(module: Module) -> list[Operation]:
    """Returns the operations of a module, called functions included, in a fixed order."""
    pending: list[Function] = [module.entry]
    seen: dict[Function, None] = {}
    while pending:
        function = pending.pop()
        if function not in seen:
            seen[function] = None
            pending += [called for each in function.operations for called in each.called]
    return [each for function in seen for each in function.operations]


def used(operation: Operation) -> bool:
    """Is true for an operation on which a result of its function depends."""
    users = (user for value in operation.results for user in value.users)
    return any(value in operation.function.results for value in operation.results) or any(map(used, users))


def is_channel(attribute: Attribute | None, operation: Operation, value: str | None) -> bool:
    """Is true for another number of a channel, which only distinguishes messages."""
    written = operation.attributes.get("channel_id", operation.attributes.get("channel_handle"))
    numbers = [_NUMBER.search(text or "0") for text in (written, value)]
    is_one = attribute is not None and attribute.kind == "channel"
    return is_one and all(number is not None and int(number[0]) > 0 for number in numbers)


def changes(operation: Operation, *, is_hlo: bool) -> Iterator[tuple[str, str | None]]:
    """Yields names of attributes and other values of them, None for a dropped one."""
    written, declared = operation.attributes, attributes_of(operation.opcode)
    for name, text in written.items():
        if name in declared and not declared[name].names_computations and name != "value":
            yield from ((name, other) for other in dict.fromkeys(others(declared[name], operation, name, text)))
    for name, attribute in declared.items():
        if name not in written and (name == attribute.name or not is_hlo) and not attribute.names_computations:
            values = attribute.values if is_hlo else ()
            added = ADDED.get(attribute.kind, ((), ()))[0 if is_hlo else 1]
            yield from ((name, value) for value in dict.fromkeys((*values, *added)))
    yield "undeclared", "1" if is_hlo else "1 : i64"


def others(attribute: Attribute, operation: Operation, name: str, text: str) -> Iterator[str | None]:
    """Yields other texts of an attribute: each number and truth value changed, each other word, and none at all."""
    yield None
    if operation.string(name) is not None:
        yield from (f'"{text.strip(chr(34))}{more}"' for more in (" ", "//a", "0"))
        return
    for found in chain(_NUMBER.finditer(text), _TRUTH.finditer(text)):
        word = found[0]
        values = (
            [str(int(word) + 1), str(int(word) - 1)] if word.isdigit() else ["true" if word == "false" else "false"]
        )
        yield from (text[: found.start()] + each + text[found.end() :] for each in values)
    for value in attribute.values:
        bare = value.removeprefix("rng_")
        yield from (
            re.sub(rf"\b{old}\b", new, text)
            for each in attribute.values
            for old, new in ((each, value), (each.removeprefix("rng_").upper(), bare.upper()))
            if re.search(rf"\b{old}\b", text) and old != new
        )


def changed(text: str, position: int, name: str, value: str | None) -> Module | None:
    """Returns the program in which one attribute of an operation is another one; None where it is not valid."""
    try:
        module = parse(text)
        operations(module)[position].set_attribute(name, value)
        return parse(module.text()) if name == "undeclared" else read(module.text())
    except (DiagnosticError, ValueError):
        return None


def is_same_in_xla(*texts: str) -> bool:
    """Is true where XLA reads the same module from two texts."""
    try:
        modules = [_hlo.hlo_module_from_text(t if t.startswith("HloModule") else as_hlo(t)) for t in texts]
    except Exception:  # XLA's errors have several types
        return False
    first, second = (each.to_string() for each in modules)
    return bool(first == second)


def is_same_on_data(worker: Worker, first: Module, second: Module) -> bool:
    """Is true where the reference engine executes two programs, with the same results."""
    shapes = [value.shape for value in first.entry.parameters if isinstance(value.shape, ArrayShape)]
    results = []
    try:
        for module in (first, second):
            program = prepare(module, "m")
            inputs = [styled_inputs(shapes, seed, "random") for seed in range(_SEEDS)]
            results.append(
                [[each.tobytes() for each in found] for found in worker.run(program, inputs, engine="reference")]
            )
    except (ExecutionError, DiagnosticError, ValueError):
        return False
    return results[0] == results[1]


def judge(worker: Worker, text: str, place: tuple[str, int, str, str | None], score: Score) -> None:
    """Counts one change."""
    program, position, name, value = place
    module, other = parse(text), changed(text, position, name, value)
    if other is None or other.text() == module.text():
        score.refused += 1
        return
    score.changes += 1
    operation = operations(module)[position]
    attribute = attributes_of(operation.opcode).get(name)
    try:
        is_equal = try_prove([module, other]).answer == "equal"
    except DiagnosticError:
        is_equal = False
    if not is_equal:
        score.noticed += 1
    elif (attribute is not None and attribute.unused) or is_channel(attribute, operation, value):
        score.unused += 1
    elif is_same_in_xla(module.text(), other.text()):
        score.same_in_xla += 1
    elif is_same_on_data(worker, module, other):
        score.same_on_data += 1
    else:
        written = operation.attributes.get(name)
        score.wrong.append(f"{program} ({module.dialect}): {operation.opcode} {name}: {written} -> {value}")


def campaign(every: int = 1, only: str = "") -> Score:
    """Changes the attributes of each `every`th program whose name has a part."""
    score = Score()
    with Worker() as worker:
        for name, text in programs(every, only):
            module = parse(text)
            if try_prove([module, parse(text)]).answer != "equal":
                continue
            is_hlo = isinstance(module, HloModule)
            for position, operation in enumerate(operations(module)):
                if not used(operation):
                    continue
                for attribute, value in changes(operation, is_hlo=is_hlo):
                    judge(worker, text, (name, position, attribute, value), score)
    return score


def main(every: int) -> int:
    start, score = time.process_time(), campaign(every)
    print(
        f"{score.changes} changes: {score.noticed} noticed, {score.unused} of attributes declared without effect, "
        f"{score.same_in_xla} that XLA reads as the same module, {score.same_on_data} with the same results; "
        f"{score.refused} refused by a reader; {time.process_time() - start:.0f} CPU seconds"
    )
    print(*score.wrong, sep="\n")
    return int(bool(score.wrong))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
