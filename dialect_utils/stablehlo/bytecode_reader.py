"""Turns MLIR bytecode on standard input into text: the program of a process of its own.

MLIR's reader of bytecode trusts its input: about one damaged file in a hundred kills the process.
"""

from __future__ import annotations

import sys

from dialect_utils.stablehlo.bindings import context, deserialize_portable_artifact, ir
from dialect_utils.stablehlo.origins import place_of, walk

# The producer that StableHLO writes after the magic and a version byte.
_PORTABLE_PRODUCER = b"StableHLO_v"
_PRODUCER_END = 32
REFUSED = 1


def main() -> int:
    """Reads bytecode or a portable artifact; writes text, or the reason in one line to standard error."""
    try:
        text = _text_of(sys.stdin.buffer.read())
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return REFUSED
    sys.stdout.buffer.write(text.encode())
    return 0


def _text_of(data: bytes) -> str:
    if _PORTABLE_PRODUCER in data[:_PRODUCER_END]:
        return _printed(deserialize_portable_artifact(context(allow_unregistered=False), data))
    try:
        return _printed(ir.Module.parse(data, context(allow_unregistered=False)))
    except (ir.MLIRError, ValueError):
        return _printed(ir.Module.parse(data, context(allow_unregistered=True)))


def _printed(module: ir.Module) -> str:
    has_locations = any(map(_has_location, walk(module.operation)))
    return str(module.operation.get_asm(enable_debug_info=has_locations))


def _has_location(operation: ir.Operation) -> bool:
    # Text read in memory leaves "-":line:column, which is no location that someone wrote.
    return not isinstance(operation.location, ir.UnknownLoc) and place_of(operation.location) is None


if __name__ == "__main__":
    sys.exit(main())
