"""Errors of execution: jaxlib's messages in this project's form, and crashes of the worker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dialect_utils.processes import NO_MEMORY
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span

MORE_MEMORY = "--memory GB gives it more"
Failure = Literal["rejected", "unsupported", "crash", "timeout"]
# The worker's last stage of work on a module.
Stage = Literal["begun", "read", "compiled", "executed"]

# absl::StatusCode names that XLA writes before its messages.
_STATUS = re.compile(r"^(?:[A-Z][A-Z_]+: )+")
# MLIR: `-:2:7: error: ...` or `error: "-":2:7: ...`; HLO parser: `was parsing 4:19: error: ...`.
_PLACES = (
    re.compile(r"was parsing (?P<line>\d+):(?P<column>\d+): error: (?P<message>[^\n]*)"),
    re.compile(r"^-:(?P<line>\d+):(?P<column>\d+): error: (?P<message>[^\n]*)", re.MULTILINE),
    re.compile(r'error: "-":(?P<line>\d+):(?P<column>\d+): (?P<message>[^\n]*)'),
)
# MLIR made from HLO: the location is the instruction's name, made unique in the module.
_NAMED = re.compile(
    r'(?:loc\((?:callsite\()?"(?P<name>[^"\n]+)".*?\)|^error: "(?P<own>[^"\n]+)"): (?:error: )?(?P<message>[^\n]*)',
    re.MULTILINE,
)
_NUMBER_OF_COPY = re.compile(r"\.\d+$")
_PLACELESS = re.compile(r"^(?:<unknown>:0: error|error: unknown): (?P<message>[^\n]*)", re.MULTILINE)
# Status codes of unsupported features. INTERNAL is not one: XLA's verifier gives it for invalid modules.
_LACKING = ("UNIMPLEMENTED", "NOT_FOUND", "RESOURCE_EXHAUSTED")
# Messages of XLA:CPU about unsupported features under other codes: constants that are tuples, element sizes,
# algorithms of dots.
_LACKING_WORDS = re.compile(
    r"(?:[A-Z][A-Z_]+: )*(?:during context \[[^\]]*\]: )?"
    r"(?:Unsupported type: TUPLE|The XLA CPU/GPU backend does not support|Algorithm not supported by)"
)
_TUPLE = "type: TUPLE"
# jaxlib writes it for opcodes that its StableHLO cannot express.
_UNKNOWN_TO_MLIR = "unregistered operation 'mhlo.unknown'"
# XLA writes it for operations of MLIR's own dialects, such as arith.addf.
_NOT_EXPORTED = "unsupported op for export to XLA"
# Failed checks of XLA itself: the message is about XLA's code, not about the module.
_ITS_OWN = re.compile(r"(?:[A-Z][A-Z_]+: )*(?:INTERNAL: |.*RET_CHECK failure|\w+::\w+ failed)")
_BUILD_PLACE = re.compile(r"RET_CHECK failure \(external/xla/(?P<file>[^)]*)\)")
# Signals that a module causes; the others (SIGKILL, SIGXCPU) enforce this machine's limits.
_FALLS = re.compile(r"was ended by SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP) while")
_DIVISION = "SIGFPE"
_BY_ZERO = "an integer was divided by 0, or the least one by -1, while constants were folded"
_LLVM_ERROR = re.compile(r"^LLVM ERROR: (?P<message>[^\n]*?)(?:\. However.*| at the moment.*)?$", re.MULTILINE)
_NO_REASON = "Syntax error when trying to parse the text as a HloModule:"
# Fatal log lines of absl and the stack frames after them.
_FATAL = re.compile(r"^F\d{4} \S+ +\d+ [^\]]*\] (?P<message>.*)")
_STACK_FRAME = re.compile(r"^\s*@ +0x|^\*\*\* ")
_LAST_LINES = 5
_TOKEN = re.compile(r"[%@]?[\w.#-]+|.")
# Advice of MLIR for C++ programs.
_ADVICE = re.compile(r"\.? If this is intended, please .*")


class RefusedError(DiagnosticError):
    """A module that no engine can execute on any machine: the verdict is `unknown` even if a proof exists."""


class ExecutionError(DiagnosticError):
    """The reason why a module was not executed.

    `failure` is `rejected` (by jaxlib with a message), `unsupported` (by the engine), `crash` (of the worker process)
    or `timeout`. `is_refusal` is true where the module has no known meaning: the engine rejects it or crashes on it.
    """

    def __init__(
        self,
        failure: Failure,
        message: str,
        location: Location | None = None,
        notes: Sequence[str] = (),
        hint: str | None = None,
    ):
        self.failure: Failure = failure
        self.message = message
        self.is_refusal = failure == "rejected" or (failure == "crash" and _FALLS.search(message) is not None)
        said = tuple(Diagnostic(note, severity="note") for note in notes)
        super().__init__(Diagnostic(message, location, hint=hint, notes=said))


def from_jaxlib(failure: Failure, message: str, source: Source | None, stage: Stage = "read") -> ExecutionError:
    """Returns the error for a message of jaxlib, at the location in `source` that the message names.

    `source` is the text that jaxlib read, or None for bytecode; `stage` is the worker's stage at that time.
    """
    message = message.strip()
    is_lacking = message.startswith(_LACKING) or _LACKING_WORDS.match(message) or _UNKNOWN_TO_MLIR in message
    is_lacking = is_lacking or _NOT_EXPORTED in message
    if failure == "rejected" and is_lacking:
        failure = "unsupported"
    is_its_own = failure == "rejected" and _ITS_OWN.match(message) is not None
    hint = MORE_MEMORY if NO_MEMORY.search(message) else None
    message = _STATUS.sub("", message)
    for pattern in _PLACES:
        found = pattern.search(message)
        if found is not None:
            text = _sentence(found["message"])
            location = _location(source, int(found["line"]), int(found["column"]))
            return ExecutionError(failure, text, location)
    named = _NAMED.search(message)
    if named is not None:
        name, text = named["name"] or named["own"], _sentence(named["message"])
        location = _definition(source, name)
        return ExecutionError(failure, text if location else f"{name}: {text}", location)
    if message == _NO_REASON:
        return ExecutionError(failure, "XLA's parser refuses the text and does not say why")
    placeless = _PLACELESS.search(message)
    text = _sentence(placeless["message"] if placeless else message)
    if text.endswith(_TUPLE):
        text = f"jaxlib reads no constant that is a tuple ({text})"
    if is_its_own:
        said = _BUILD_PLACE.sub(r"a check in \g<file> failed:", message.split("\n")[0].rstrip("."))
        return ExecutionError(failure, f"XLA itself failed while the module was {stage}: {said}", hint=hint)
    return ExecutionError(failure, text, hint=hint)


def from_crash(ending: str, stage: Stage, said: str, memory: int) -> ExecutionError:
    """Returns the error for a crashed worker from its exit, its stage and the end of its standard error.

    `memory` is the worker's limit in bytes.
    """
    unsupported = _LLVM_ERROR.search(said)
    if unsupported is not None and not NO_MEMORY.search(said):
        # The interpreter aborts on ops it lacks.
        return ExecutionError("unsupported", _sentence(unsupported["message"]))
    while_ = "before it was ready" if stage == "begun" else f"while the module was {stage}"
    lines = [line.strip() for line in said.splitlines() if line.strip() and not _STACK_FRAME.match(line)]
    notes = failed_checks(said) or lines[-_LAST_LINES:]
    if NO_MEMORY.search(said):
        message = f"the worker process needed more than {memory / 1e9:g} GB of memory {while_}"
        return ExecutionError("crash", message, notes=notes, hint=MORE_MEMORY)
    reason = f": {_BY_ZERO}" if _DIVISION in ending else ""
    return ExecutionError("crash", f"the worker process {ending} {while_}{reason}", notes=notes)


def failed_checks(said: str) -> list[str]:
    """Returns the messages of the fatal log lines of a crashed process, each once."""
    found = (_FATAL.match(line.strip()) for line in said.splitlines())
    return list(dict.fromkeys(each["message"] for each in found if each is not None))


def _location(source: Source | None, line: int, column: int) -> Location | None:
    if source is None:
        return None
    start = source.offset(line, column)
    token = _TOKEN.match(source.text, start)
    return Location(source, Span(start, token.end() if token else start + 1))


def _definition(source: Source | None, name: str) -> Location | None:
    """Returns the location of the only instruction with a name, or with its base name: `dot` of `dot.3`."""
    if source is None:
        return None
    for candidate in (name, _NUMBER_OF_COPY.sub("", name)):
        pattern = rf"^[^\n=(]*?%?({re.escape(candidate)}) = "
        found = list(re.finditer(pattern, source.text, re.MULTILINE))
        if len(found) == 1:
            return Location(source, Span(*found[0].span(1)))
    return None


def _sentence(message: str) -> str:
    """Returns the first line in this project's form: lower case, without a full stop."""
    # XLA's HLO parser repeats itself: `expects opcode but sees: foo, error: Unknown opcode: foo`.
    text = _ADVICE.sub("", message.strip().split("\n")[0]).rpartition(", error: ")[2].strip().rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
