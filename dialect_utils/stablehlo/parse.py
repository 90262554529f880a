"""Reads MLIR text, MLIR bytecode and StableHLO portable artifacts."""

from __future__ import annotations

import re

from dialect_utils.ir.assignments import assign
from dialect_utils.stablehlo.annotations import text_of
from dialect_utils.stablehlo.bindings import context, deserialize_portable_artifact, ir, run_passes
from dialect_utils.stablehlo.builder import StableHloBuilder
from dialect_utils.stablehlo.function import FUNCTION
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.origins import (
    Origin,
    blank_locations,
    blocks_of,
    diagnostics_of,
    location_of,
    origin_of,
    walk,
)
from dialect_utils.text import LARGEST_TEXT, Diagnostic, DiagnosticError, Source, Span, error_at

BYTECODE_MAGIC = b"ML\xefR"
# MLIR's parser overflows its stack at some thousands of nested brackets.
_MAX_NESTING = 500
# Everything but brackets: strings, comments, arrows and comparisons, whose `>` closes nothing, other characters.
_NO_BRACKETS = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*+|->|>=|[^()\[\]{}<>"/\-]++|[/\-]')

# A byte of a string beyond ASCII, and strings that are names: of symbols, operations and attributes. The
# target of a custom call may be any bytes.
_HIGH_BYTE = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")
_NAME = re.compile(
    r'(?P<target>custom_call @)?(?P<symbol>@|\bsym_name\s*+=\s*+)?"(?P<text>(?:[^"\\\n]++|\\.)*+)"?(?P<end>\s*+[(=])?'
)
_ESCAPED_BYTE = re.compile(rb"\\([0-9A-Fa-f]{2})")

# Definitions and uses of aliases, and the begin of the module itself.
_ALIAS = re.compile(
    r'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*+|(?P<name>[#!][A-Za-z_][\w$.]*+)(?P<defined>\s*+=)?+'
    r"|(?P<body>\b(?:module|func)\b)"
)
# The printer expands aliases: aliases of aliases may double the text at each step.
_LARGEST_EXPANSION = 64 << 20
_PLACE_ALIAS = "#loc"
# The producer that StableHLO writes after the magic and a version byte.
_PORTABLE_PRODUCER = b"StableHLO_v"
_PRODUCER_END = 32
_DECOMPOSITION = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


def parse_module(text_or_bytes: str | bytes, name: str = "<stablehlo>") -> StableHloModule:
    """Reads a module and verifies it; see `dialect_utils.stablehlo.parse_module`."""
    if isinstance(text_or_bytes, str):
        return _parse_text(Source(name, text_or_bytes))
    if text_or_bytes.startswith(BYTECODE_MAGIC):
        return _parse_bytecode(text_or_bytes, name)
    try:
        return _parse_text(Source(name, text_or_bytes.decode()))
    except UnicodeDecodeError as error:
        message = f"{name} is neither MLIR text in UTF-8 nor MLIR bytecode: byte {error.start} is no UTF-8"
        raise DiagnosticError(message) from None


def _parse_bytecode(data: bytes, name: str) -> StableHloModule:
    """Reads bytecode through its text, which gives every operation a position and a name."""
    try:
        text = _bytecode_text(data)
    except (ir.MLIRError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DiagnosticError(f"{name} is not a valid MLIR bytecode file: {reason}") from None
    if len(text) > LARGEST_TEXT:
        raise DiagnosticError(f"the text of {name} has more than the {LARGEST_TEXT} bytes that are read")
    return _parse_text(Source(name, text))


def _parse_text(source: Source) -> StableHloModule:
    _check_characters(source)
    _check_nesting(source)
    _check_aliases(source)
    blanked = blank_locations(source.text)
    has_locations = blanked != source.text
    root, placed = _parse(source.text, blanked if has_locations else None, source)
    for view in root.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name != FUNCTION or len(operation.regions[0].blocks) <= 1:
            continue
        message = f"function @{text_of(operation, 'sym_name')} has branches between blocks"
        where = location_of(source, origin_of(operation.location))
        raise DiagnosticError(message, where, hint="express control flow by stablehlo.if, case and while")
    module = StableHloModule(root, source, StableHloBuilder, has_locations=has_locations)
    if placed is not None:
        _keep_origins(module, placed)
    return module


def _parse(text: str, blanked: str | None, source: Source) -> tuple[ir.Operation, ir.Operation | None]:
    try:
        root = ir.Module.parse(text, context()).operation
        return root, None if blanked is None else ir.Module.parse(blanked, context()).operation
    except ir.MLIRError as error:
        raise DiagnosticError(_best_diagnostics(error, blanked, source)) from None


def _best_diagnostics(error: ir.MLIRError, blanked: str | None, source: Source) -> tuple[Diagnostic, ...]:
    """Returns the error's diagnostics; those of the text without `loc(...)` where it fails too.

    The verifier reports an operation's own location, which may be in another file.
    """
    if blanked is not None:
        try:
            ir.Module.parse(blanked, context())
        except ir.MLIRError as plain:
            return diagnostics_of(plain, source)
    return diagnostics_of(error, source)


def _keep_origins(module: StableHloModule, placed: ir.Operation) -> None:
    """Keeps the positions of operations and arguments in a text that gives locations of its own."""
    unknown = ir.Location.unknown(module.root.context)
    for mlir, other in zip(walk(module.root), walk(placed), strict=True):
        operation = module.operation(mlir)
        assign(operation, "origin", origin_of(other.location))
        if _is_implicit(mlir.location, operation.origin):
            mlir.location = unknown
        for block, other_block in zip(blocks_of(mlir), blocks_of(other), strict=True):
            parameters = module.function(block).parameters
            for parameter, argument in zip(parameters, other_block.arguments, strict=True):
                assign(parameter, "origin", origin_of(argument.location))
                if _is_implicit(argument.location, origin_of(parameter.mlir.location)):
                    ir.BlockArgument(parameter.mlir).set_location(unknown)


def _is_implicit(location: ir.Location, origin: Origin | None) -> bool:
    return isinstance(location, ir.FileLineColLoc) and origin_of(location) == origin


def _check_characters(source: Source) -> None:
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        raise error_at(source, Span(error.start, error.end), "a lone surrogate is no character") from None
    # Strings may hold any bytes (serialized shardings do); names may not, because MLIR's bindings abort on a message
    # that quotes such a name.
    for found in _NAME.finditer(source.text) if _HIGH_BYTE.search(source.text) else ():
        if not found["target"] and (found["symbol"] or found["end"]) and not _is_utf8(found["text"]):
            raise error_at(source, Span(*found.span("text")), "a name that is not UTF-8")


def _is_utf8(written: str) -> bool:
    try:
        _ESCAPED_BYTE.sub(lambda byte: bytes.fromhex(byte[1].decode()), written.encode()).decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_nesting(source: Source) -> None:
    """Raises DiagnosticError where brackets nest deeper than MLIR's parser can follow."""
    brackets = _NO_BRACKETS.sub("", source.text)
    for _ in range(_MAX_NESTING):
        shorter = brackets.replace("()", "").replace("[]", "").replace("{}", "").replace("<>", "")
        if len(shorter) == len(brackets):
            break
        brackets = shorter
    if sum(brackets.count(opening) for opening in "([{<") > _MAX_NESTING:
        raise error_at(source, Span(0, 1), f"brackets nest deeper than {_MAX_NESTING}, or too many are not closed")


def _check_aliases(source: Source) -> None:
    """Raises DiagnosticError where the expansion of aliases would be too long to print."""
    sizes: dict[str, int] = {}
    current, end = "", 0
    for found in _ALIAS.finditer(source.text):
        name = found["name"]
        if found["body"] or found["defined"]:
            current = name or ""
        if name is None:
            continue
        # Aliases of locations are not expanded; others are, at each use.
        used = 0 if found["defined"] or (not current and name.startswith(_PLACE_ALIAS)) else sizes.get(name, 0)
        start = found.start() if found["defined"] else end
        sizes[current] = sizes.get(current, 0) + used + found.end() - start
        end = found.end()
        if sizes[current] - len(source.text) > _LARGEST_EXPANSION:
            message = f"aliases mean more than {_LARGEST_EXPANSION >> 20} MB of text here"
            raise error_at(source, Span(*found.span("name")), message)


def _bytecode_text(data: bytes) -> str:
    """Returns the text of bytecode or a portable artifact; raises MLIRError or ValueError for damaged data."""
    if _PORTABLE_PRODUCER in data[:_PRODUCER_END]:
        return _printed(deserialize_portable_artifact(context(), data))
    return _printed(ir.Module.parse(data, context()))


def _printed(module: ir.Module) -> str:
    has_locations = any(map(_has_location, walk(module.operation)))
    return str(module.operation.get_asm(enable_debug_info=has_locations))


def _has_location(operation: ir.Operation) -> bool:
    # The parser's own `"-":line:column` is not a location of the text.
    return not isinstance(operation.location, ir.UnknownLoc) and origin_of(operation.location) is None


def try_decompose_chlo(module: StableHloModule) -> StableHloModule | None:
    """Returns the module with CHLO operations decomposed; None where it has none, or MLIR cannot decompose one."""
    if not any(operation.name.startswith("chlo.") for operation in walk(module.root)):
        return None
    copy = ir.Module.parse(module.bytecode(), module.context)
    try:
        run_passes(copy, _DECOMPOSITION)
    except ir.MLIRError:
        return None
    return parse_module(str(copy), f"{module.source.name} without CHLO")
