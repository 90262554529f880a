"""Trials of changed modules: the rest of a compilation in a process of its own, which the compiler may end."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from dialect_utils.execution.compilers import CompilerProcess, Figures, shortened
from dialect_utils.execution.hooks import Platform, hooked
from dialect_utils.execution.messages import Message
from dialect_utils.io.protos import has_device_assignment
from dialect_utils.text import DiagnosticError

# The classes of jaxlib's objects in the frame of JAX that calls the compiler.
_MODULE, _OPTIONS, _DEVICES = _SUBMITTED = "Module", "CompileOptions", "DeviceList"
_UNTRIED = "trial=False gives it to the compiler untried"


@dataclass(frozen=True, slots=True)
class Submitted:
    """A program as JAX submits it to a compiler: StableHLO, options and devices, as jaxlib's objects."""

    module: Any
    options: Any
    devices: Any

    @classmethod
    def by_this_thread(cls) -> Submitted | None:
        """Returns the program of the innermost compilation that waits in this thread, None where no frame has it."""
        frame = sys._getframe()  # noqa: SLF001 (the documented name)
        while frame.f_back is not None:
            frame = frame.f_back
            found = {type(each).__name__: each for each in frame.f_locals.values()}
            if found.keys() >= {*_SUBMITTED}:
                return cls(*(found[each] for each in _SUBMITTED))
        return None

    def blobs(self) -> list[bytes]:
        """Returns the program, the options and the topology as bytes."""
        code = io.BytesIO()
        self.module.operation.write_bytecode(code)
        topology = _topologies()(list(self.devices)).serialize()
        return [code.getvalue(), self.options.SerializeAsString(), topology]


@dataclass(slots=True)
class Trials:
    """The processes, one for each platform, that compile changed modules of a stage."""

    stage: str
    _processes: dict[Platform, CompilerProcess] = field(default_factory=dict)

    def check(self, platform: Platform, submitted: Submitted | None, data: bytes, seconds: float) -> None:
        """Raises DiagnosticError unless a compiler compiles a program with a changed module, an HloModuleProto, in it.

        An error that the unchanged program has, too, says nothing about the change: the process lacks a device, and
        what this one has registered.
        """
        if submitted is None:
            message = "the passes' module cannot be tried: no frame of JAX has the program that is compiled"
            raise DiagnosticError(message, hint=_UNTRIED)
        end = time.monotonic() + seconds
        process = self._processes.setdefault(platform, CompilerProcess(platform))
        try:
            error = self._error(platform, submitted, data, end)
            if error and not (process.handed and self._error(platform, submitted, b"", end) == error):
                message = f"the compiler for {platform} cannot compile the passes' module: {shortened(error)}"
                raise DiagnosticError(message)
        except BaseException:
            process.close()  # it may still compile
            raise

    def _error(self, platform: Platform, submitted: Submitted, data: bytes, end: float) -> str:
        process = self._processes[platform]
        numbers = [each.id for each in submitted.devices]
        header = {"platform": platform, "stage": self.stage, "devices": numbers}
        process.send(Message(header, [*submitted.blobs(), data]), max(0.0, end - time.monotonic()))
        return process.finish()[0].error

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes.values():
            process.close()


def try_module(request: Message) -> Message:
    """Compiles a submitted program in this process, with the module of the request in place of those handed over.

    The answer has a part for each module handed over, and the error in its header.
    """
    code, options, topology, changed = map(bytes, request.blobs)
    platform, handed = request.header["platform"], list[bytes]()

    def transform(_: Platform, data: bytes) -> bytes | None:
        # A part of a GPU program is not the module that was changed.
        if platform == "cuda" and not has_device_assignment(data):
            return None
        handed.append(b"")
        return changed or None

    try:
        with hooked((platform,), request.header["stage"], transform):
            _compile(code, options, topology, request.header["devices"])
        error = "" if handed else "it hands over no module in this stage"
    except Exception as failure:  # jaxlib raises errors of several kinds, and MLIR its own
        error = str(failure) or type(failure).__name__
    return Message(asdict(Figures(error=error)), [b"", *handed])


def _compile(code: bytes, options: bytes, topology: bytes, devices: list[int]) -> None:
    from jaxlib import _jax

    from dialect_utils.stablehlo.bindings import context, ir

    placed = {each.id: each for each in _topologies().deserialize(topology).devices}
    given = _jax.CompileOptions.ParseFromString(options)
    chosen = _jax.DeviceList(tuple(placed[number] for number in devices))
    placed[devices[0]].client.compile(ir.Module.parse(code, context()), chosen, given)


def _topologies() -> Any:
    """Returns JAX's class of topologies, which jax 0.12 writes and reads."""
    from jax.experimental.topologies import TopologyDescription

    return TopologyDescription
