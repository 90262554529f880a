"""Fuzzes readers that call MLIR and XLA: `python -m tests.fuzzing.native TARGET SECONDS`.

Their C++ is not instrumented and may abort, loop or take all memory, so a forked child reads each batch of inputs under
limits of the system. The child may end; our code around the libraries may raise DiagnosticError only. An input is kept
for further changes where it makes a message, or an exception inside, that no input before has made.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from dialect_utils import sandbox
from dialect_utils.execution import adapter
from dialect_utils.hlo import parse_module
from dialect_utils.io.files import parse_bytes
from dialect_utils.io.protos import MalformedProtoError, find_proto
from dialect_utils.mosaic.decode import kernel_of
from dialect_utils.mosaic.kernel import describe_kernel
from dialect_utils.stablehlo.bindings import context, kernel_context
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.pipeline import verify
from tests.fuzzing.findings import LIVE, write_down, write_new
from tests.fuzzing.mutation import mutate_bytecode, mutate_bytes, mutate_encoded, mutate_tokens
from tests.fuzzing.targets import KEPT
from tests.paths import OWN_CORPUS, ROOT
from tests.signals import fork

_BATCH = 100
_CPU_SECONDS = 5
_MEMORY_BYTES = 4 << 30
_LARGEST = 1 << 15


def _check_stablehlo(data: bytes) -> None:
    module = parse_bytes(data, "f")
    verify(module)
    text = module.text()
    assert parse_bytes(text.encode(), "f").text() == text, "the module prints another text when it is read again"


def _check_bytecode(data: bytes) -> None:
    _check_stablehlo(b"ML\xefR" + data.removeprefix(b"ML\xefR"))


_CALL = """HloModule m
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT c = f32[8,128]{1,0:T(8,128)} custom-call(p), custom_call_target="tpu_custom_call", backend_config=@
}
"""


def _check_kernel(data: bytes) -> None:
    config = json.dumps({"custom_call_config": {"body": data.decode(errors="replace")}})
    module = parse_module(_CALL.replace("@", config))
    describe_kernel("c", kernel_of(module.entry.root))


def _check_xla_proto(data: bytes) -> None:
    try:
        found = bytes(find_proto(data).module)
    except MalformedProtoError:
        return
    try:
        text = adapter.hlo_text_from_proto(found)
    except Exception as error:
        raise DiagnosticError(Diagnostic(str(error))) from None
    module = parse_module(text)
    assert module.text() == text
    verify(module)


def _texts() -> Iterator[bytes]:
    for path in (*sorted(OWN_CORPUS.rglob("*.mlir")), *sorted((ROOT / "examples").glob("*.mlir"))):
        if path.stat().st_size < 6000:
            yield path.read_bytes()


def _bytecode() -> Iterator[bytes]:
    from dialect_utils.stablehlo import parse_module as parse_stablehlo

    for text in _texts():
        module = parse_stablehlo(text)
        yield module.bytecode()


def _artifacts() -> Iterator[bytes]:
    from dialect_utils.stablehlo import parse_module as parse_stablehlo

    for text in _texts():
        try:
            yield parse_stablehlo(text).portable_artifact()
        except DiagnosticError:
            continue


_BODY = re.compile(r'"custom_call_config": ?\{"body": ?"([\w+/=]+)"')


def _bodies() -> Iterator[bytes]:
    for path in sorted(OWN_CORPUS.rglob("*.hlo")):
        for body in set(_BODY.findall(path.read_text("utf-8"))):
            if len(body) < 8000:
                yield body.encode()


def _protos() -> Iterator[bytes]:
    for path in sorted((OWN_CORPUS / "hlo").glob("*.hlo")):
        try:
            yield adapter.hlo_proto_from_text(path.read_text("utf-8"))
        except Exception:
            continue


@dataclass(frozen=True, slots=True)
class Native:
    """A reader with C++ in it: check, first inputs, mutation, and what a process loads before it forks."""

    check: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]
    mutate: Callable[[bytes, Sequence[bytes], Random], bytes]
    load: Callable[[], object]


NATIVE = {
    "stablehlo": Native(_check_stablehlo, _texts, mutate_tokens, context),
    "bytecode": Native(_check_bytecode, _bytecode, lambda data, _, draw: mutate_bytecode(data, draw), context),
    "vhlo": Native(_check_bytecode, _artifacts, lambda data, _, draw: mutate_bytecode(data, draw), context),
    "kernels": Native(_check_kernel, _bodies, lambda data, _, draw: mutate_encoded(data, draw), kernel_context),
    "xla_protos": Native(_check_xla_proto, _protos, lambda data, _, draw: mutate_bytes(data, draw), lambda: None),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one input: `read`, the words of a diagnostic, a violation, or the signal that ended the child."""

    kind: str
    is_violation: bool = False


def outcomes(name: str, inputs: Sequence[bytes]) -> list[Outcome]:
    """Reads each input in a child; a child that ends is followed by another one, from the next input on."""
    found: list[Outcome] = []
    while len(found) < len(inputs):
        found += _batch(name, inputs[len(found) :])
    return found


def _batch(name: str, inputs: Sequence[bytes]) -> list[Outcome]:
    reading, writing = os.pipe()
    child = fork()
    if not child:
        os.close(reading)
        # The readers of MLIR need no other process here.
        sandbox.mark_sandboxed()
        try:
            _read_all(name, inputs, writing)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        lines = stream.read().splitlines()
    _, status = os.waitpid(child, 0)
    found = [Outcome(**json.loads(line)) for line in lines]
    if len(found) < len(inputs):
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        found.append(Outcome(signal.Signals(number).name if number else "ended by itself"))
    return found


def _read_all(name: str, inputs: Sequence[bytes], answers: int) -> None:
    # The libraries print what they reject, and pytest's handler the stack of a crash.
    faulthandler.disable()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    for data in inputs:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + _CPU_SECONDS + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        kind, is_violation = _outcome(name, data)
        os.write(answers, json.dumps({"kind": kind, "is_violation": is_violation}).encode() + b"\n")


_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|[%@#!]\S+|\d+|\S*[<>\[\]]\S*")


def _outcome(name: str, data: bytes) -> tuple[str, bool]:
    try:
        NATIVE[name].check(data)
    except DiagnosticError as error:
        return _VARYING.sub("_", error.diagnostics[0].message)[:120], False
    except MemoryError:
        # The limit of the child; the supervisor of a command reports it.
        return "MemoryError", False
    except Exception as error:
        write_down(name, data, error)
        return f"{type(error).__name__}: {error}"[:200], True
    return "read", False


def fuzz(name: str, seconds: float) -> Counter[str]:
    """Fuzzes a target for some seconds; prints the figures, and returns how often each signal ended a child."""
    target, live = NATIVE[name], LIVE / name
    target.load()
    live.mkdir(parents=True, exist_ok=True)
    for data in (*target.seeds(), *(path.read_bytes() for path in sorted((KEPT / name).glob("*")))):
        write_new(live, data)
    pool = [path.read_bytes() for path in sorted(live.iterdir())]
    draw = Random(time.time_ns())
    seen, ended, count, new = {each.kind for each in outcomes(name, pool)}, Counter[str](), 0, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        inputs = [target.mutate(draw.choice(pool), pool, draw)[:_LARGEST] for _ in range(_BATCH)]
        for data, outcome in zip(inputs, outcomes(name, inputs), strict=True):
            count += 1
            ended[outcome.kind] += outcome.kind.startswith("SIG")
            if outcome.kind not in seen:
                seen.add(outcome.kind)
                new += 1
                write_new(live, data)
                pool.append(data)
    sys.stderr.write(f"stat::number_of_executed_units: {count}\nstat::new_units_added: {new}\n")
    for kind, times in (+ended).items():
        sys.stderr.write(f"stat::{kind}: {times}\n")
    return +ended


if __name__ == "__main__":
    fuzz(sys.argv[1], float(sys.argv[2]))
