"""Answers one request in the worker process. Only the worker imports this module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from dialect_utils.engine_names import Engine
from dialect_utils.execution import adapter, engines
from dialect_utils.execution.messages import EXECUTES, Message, decode_arguments, diagnostics_to_json
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.rewrites.editing import take_check_calls
from dialect_utils.text import DiagnosticError

# The names of LAPACK's calls begin so.
_LAPACK = b"lapack_"
# A function that runs a program on arrays, and the shapes of these.
Prepared = tuple[engines.Run, list[ArrayShape]]

_CONVERSIONS: dict[str, Callable[[bytes], bytes]] = {
    "proto-to-text": lambda data: adapter.hlo_text_from_proto(data).encode(),
    "text-to-proto": lambda data: adapter.hlo_proto_from_text(data.decode()),
    "hlo-to-stablehlo": lambda data: adapter.stablehlo_from_hlo(data.decode()).encode(),
    "stablehlo-to-hlo": lambda data: adapter.hlo_from_stablehlo(data).encode(),
}
# The module of `dialect_utils.stablehlo.rewrites` and the function in it.
_REWRITINGS = {
    "widen": ("widening", "widen"),
    "unround": ("widening", "unround"),
    "order": ("ordering", "order"),
    "repeat": ("repeating", "repeat"),
    "observe": ("observing", "observe"),
    "round": ("rounding", "round_operands"),
}


def _read_mlir(blobs: Sequence[bytes], name: str) -> bytes:
    from dialect_utils.stablehlo.parse import BYTECODE_MAGIC

    (data,) = blobs
    is_bytecode = data.startswith(BYTECODE_MAGIC)
    return parse_module(data if is_bytecode else data.decode("utf-8", "surrogateescape"), name).source.text.encode()


def _read_kernels(blobs: Sequence[bytes], name: str) -> bytes:
    from dialect_utils.mosaic.kernel_reader import describe_kernels

    return describe_kernels(blobs, name)


_READINGS: dict[str, Callable[[Sequence[bytes], str], bytes]] = {"mlir": _read_mlir, "kernels": _read_kernels}


def warm_up(devices: int) -> None:
    """Imports the modules and starts the client that every request needs."""
    adapter.cpu_client(devices)


def answer(request: Message, report: Callable[[str], None]) -> Message:
    """Returns the results of a request or the reason for a failure; calls `report` when execution begins."""
    try:
        return _answer(request, report)
    except (engines.UnsupportedError, adapter.MissingNameError) as error:
        return Message({"status": "error", "failure": "unsupported", "message": str(error)})
    except Exception as error:  # jaxlib's errors are answers and must not end the worker
        return Message({"status": "error", "failure": "rejected", "message": str(error) or type(error).__name__})


def _answer(request: Message, report: Callable[[str], None]) -> Message:
    header, program = request.header, request.blobs[0]
    if "convert" in header:
        return Message({"status": "ok"}, [_CONVERSIONS[header["convert"]](program)])
    if "read" in header:
        return _read(request)
    if "load" in header:
        return _load(request)
    by_definition = header.get("engine") == "reference"
    is_converted = header["dialect"] == "hlo" and not by_definition
    if header.get("rewrite") == "join":
        from dialect_utils.stablehlo.rewrites.repeating import join

        made, numbers = join(_of_valid(request.blobs, is_converted=is_converted))
        return Message({"status": "ok", "numbers": numbers}, [made.encode()])
    text: str | bytes = adapter.stablehlo_from_hlo(program.decode()) if is_converted else program
    if "rewrite" in header:
        # Imported here, as below: the first answer waits for all that the worker imports, and most programs only run.
        module, function = _REWRITINGS[header["rewrite"]]
        rewrite = getattr(import_module(f"dialect_utils.stablehlo.rewrites.{module}"), function)
        made, *numbers = rewrite(text, **header["options"])
        return Message({"status": "ok", "numbers": numbers}, [made.encode()])
    if "compile" in header:
        return _compile(text, header)
    if "dump" in header:
        dump = adapter.dump_of_passes(adapter.cpu_client(), _checked(text, header), header["options"])
        return Message({"status": "ok"}, [dump])
    return _executed(request, text, report)


def _read(request: Message) -> Message:
    """Returns the module or the kernels of a file as text, or diagnostics and the text to which they refer."""
    header = request.header
    try:
        return Message({"status": "ok"}, [_READINGS[header["read"]](request.blobs, header["name"])])
    except DiagnosticError as error:
        text = next((each.location.source.text for each in error.diagnostics if each.location is not None), "")
        described = diagnostics_to_json(error.diagnostics)
        return Message({"status": "ok", "diagnostics": described}, [text.encode("utf-8", "surrogateescape")])
    except MemoryError:
        # The next file gets a new process, as after a failed allocation that C++ does not survive.
        sys.exit("out of memory")


def _of_valid(programs: Sequence[bytes], *, is_converted: bool) -> Iterator[str | bytes | None]:
    """Yields each program as StableHLO, None for a program that XLA rejects; raises jaxlib's error for the first."""
    for number, program in enumerate(programs):
        try:
            yield adapter.stablehlo_from_hlo(program.decode()) if is_converted else program
        except Exception:
            if not number:
                raise
            yield None


def _executed(request: Message, program: str | bytes, report: Callable[[str], None]) -> Message:
    header = request.header
    run, parameters = _Loaded.program if header["loaded"] else PREPARE[header["engine"]](program, header)
    blobs = iter(request.blobs[1:])
    described, results = [], []
    report(EXECUTES)
    for description in header["runs"]:
        outputs = run(decode_arguments(description, blobs, parameters))
        described.append([[kind.name, list(array.shape)] for kind, array in outputs])
        results += [array.tobytes() for _, array in outputs]
    return Message({"status": "ok", "runs": described}, results)


def _compiled(
    prepare: Callable[[str | bytes, dict[str, Any], int], engines.Run], program: str | bytes, header: dict[str, Any]
) -> Prepared:
    """Returns the function that runs StableHLO on arrays, and the shapes of these."""
    program = _checked(program, header)
    run = prepare(program, header["options"], header["devices"])
    parameters, _ = engines.signature(program)
    return run, _on_devices(parameters, header["devices"])


def _checked(program: str | bytes, header: dict[str, Any]) -> str | bytes:
    """Returns the program for the engines of jaxlib; raises UnsupportedError for forbidden calls."""
    _check_custom_calls(program)
    program = take_check_calls(program, as_results=header["checks"])
    if header["partitions"] == 1:
        return program
    from dialect_utils.stablehlo.rewrites.repeating import as_replicas

    return as_replicas(program)


def _on_devices(shapes: list[ArrayShape], devices: int) -> list[ArrayShape]:
    if devices == 1:
        return shapes
    return [replace(shape, dimensions=(devices, *shape.dimensions)) for shape in shapes]


class _Loaded:
    """The executable that a request with `compile` or `load` left in this process, for runs without a program."""

    program: Prepared


def _compile(program: str | bytes, header: dict[str, Any]) -> Message:
    """Compiles a program for XLA and returns the executable."""
    program, devices = _checked(program, header), header["devices"]
    executable = adapter.compile_module(adapter.cpu_client(devices), program, header["options"], devices)
    parameters, results = engines.signature(program)
    parameters, types = _on_devices(parameters, devices), [shape.element_type for shape in results]
    _Loaded.program = engines.run_on_xla(executable, types, devices), parameters
    interface = {
        "parameters": [[shape.element_type.name, list(shape.dimensions)] for shape in parameters],
        "results": [kind.name for kind in types],
    }
    return Message({"status": "ok", "interface": interface}, [adapter.serialize_executable(executable)])


def _load(request: Message) -> Message:
    """Loads an executable that `_compile` returned, in this process or another one."""
    (data,), described, devices = request.blobs, request.header["load"], request.header["devices"]
    if _LAPACK in data:
        adapter.initialize_lapack()
    executable = adapter.load_executable(adapter.cpu_client(devices), data, devices)
    types = [ELEMENT_TYPES[name] for name in described["results"]]
    parameters = [ArrayShape(ELEMENT_TYPES[name], tuple(sizes)) for name, sizes in described["parameters"]]
    _Loaded.program = engines.run_on_xla(executable, types, devices), parameters
    return Message({"status": "ok"})


def _evaluated(program: str | bytes, header: dict[str, Any]) -> Prepared:
    """Returns the function that evaluates a program of either dialect on arrays, and the shapes of these."""
    if header["devices"] > 1 or header["partitions"] > 1:
        raise engines.UnsupportedError("the reference evaluator runs modules on one device only")
    if header["dialect"] == "stablehlo":
        program = take_check_calls(program, as_results=header["checks"])
    return engines.prepare_reference(program, header["dialect"], flushes=bool(header["options"].get("flushes")))


# A new engine gets an entry here and a name in dialect_utils/engine_names.py.
PREPARE: dict[Engine, Callable[[str | bytes, dict[str, Any]], Prepared]] = {
    "xla": partial(_compiled, engines.prepare_xla),
    "interpreter": partial(_compiled, engines.prepare_interpreter),
    "reference": _evaluated,
}


def _check_custom_calls(program: str | bytes) -> None:
    """Raises UnsupportedError for forbidden calls, because XLA's parser may find more calls than the parent's.

    Registers the function pointers of LAPACK's calls, which no client does.
    """
    data = program.encode() if isinstance(program, str) else program
    if b"custom_call" not in data:
        return
    from dialect_utils.execution.custom_calls import find_forbidden_calls

    module = parse_module(program, "<converted>")
    forbidden = next(find_forbidden_calls(module), None)
    if forbidden is not None:
        raise engines.UnsupportedError(forbidden.message)
    if _LAPACK in data:
        adapter.initialize_lapack()
