"""What the worker does with one request. Only the worker imports this module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dialect_utils.execution import adapter, engines
from dialect_utils.execution.custom_calls import find_forbidden_calls
from dialect_utils.execution.messages import EXECUTES, Message, decode_arguments
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.rewrites.editing import take_check_calls
from dialect_utils.stablehlo.rewrites.ordering import order
from dialect_utils.stablehlo.rewrites.repeating import as_replicas, repeat
from dialect_utils.stablehlo.rewrites.widening import widen

_REWRITINGS: dict[str, Callable[..., tuple[Any, ...]]] = {"widen": widen, "order": order, "repeat": repeat}


def warm_up(devices: int) -> None:
    """Imports and starts what every request needs."""
    adapter.cpu_client(devices)


def answer(request: Message, report: Callable[[str], None]) -> Message:
    """Returns the answer to a request: results, or why there are none; `report` is told when execution begins."""
    try:
        return _answer(request, report)
    except (engines.UnsupportedError, adapter.MissingNameError) as error:
        return Message({"status": "error", "failure": "unsupported", "message": str(error)})
    except Exception as error:  # whatever jaxlib raises is an answer, not the worker's end
        return Message({"status": "error", "failure": "rejected", "message": str(error) or type(error).__name__})


def _answer(request: Message, report: Callable[[str], None]) -> Message:
    header = request.header
    if "convert" in header:
        return Message({"status": "ok"}, [_converted(header["convert"], request.blobs[0])])
    program: str | bytes = request.blobs[0]
    if header["dialect"] == "hlo":
        program = adapter.stablehlo_from_hlo(request.blobs[0].decode())
    if "rewrite" in header:
        text, *numbers = _REWRITINGS[header["rewrite"]](program, **header["options"])
        return Message({"status": "ok", "numbers": numbers}, [text.encode()])
    _check_custom_calls(program)
    program = take_check_calls(program, as_results=header["checks"])
    if header["partitions"] > 1:
        program = as_replicas(program)
    run = engines.PREPARE[header["engine"]](program, header["options"], header["devices"])
    parameters, _ = engines.signature(program)
    if header["devices"] > 1:
        parameters = [replace(shape, dimensions=(header["devices"], *shape.dimensions)) for shape in parameters]
    blobs = iter(request.blobs[1:])
    described, results = [], []
    report(EXECUTES)
    for description in header["runs"]:
        outputs = run(decode_arguments(description, blobs, parameters))
        described.append([[kind.name, list(array.shape)] for kind, array in outputs])
        results += [array.tobytes() for _, array in outputs]
    return Message({"status": "ok", "runs": described}, results)


def _check_custom_calls(program: str | bytes) -> None:
    """Raises UnsupportedError for calls that must not run: XLA's parser may have seen more than that of the parent.

    LAPACK's get their function pointers, which no client gives them.
    """
    data = program.encode() if isinstance(program, str) else program
    if b"custom_call" not in data:
        return
    module = parse_module(program, "<converted>")
    forbidden = next(find_forbidden_calls(module), None)
    if forbidden is not None:
        raise engines.UnsupportedError(forbidden.message)
    if b"lapack_" in data:
        adapter.initialize_lapack()


def _converted(conversion: str, data: bytes) -> bytes:
    if conversion == "proto-to-text":
        return adapter.hlo_text_from_proto(data).encode()
    if conversion == "hlo-to-stablehlo":
        return adapter.stablehlo_from_hlo(data.decode()).encode()
    return adapter.hlo_proto_from_text(data.decode())
