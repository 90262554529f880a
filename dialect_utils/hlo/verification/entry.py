"""Whether headers say what is below them: computations, the entry layout, aliases and donated buffers.

Mutable buffers, `b(f32[4])`, are written once. Sources: xla/hlo/parser/hlo_parser.cc, xla/service/hlo_verifier.cc
(VerifyEntryComputationLayout, VerifyBuffers).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.hlo.text.header import parse_signature
from dialect_utils.hlo.verification.attributes import value_problem
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.ops import START, Trait, named, split_asynchronous, with_trait
from dialect_utils.ops.control import BUFFER_CALLS, aliases_of, subshape
from dialect_utils.ops.devices import numbers_in
from dialect_utils.ops.inference import Instance, ShapeError, integer, is_compatible
from dialect_utils.text import Diagnostic, Location, Severity, Span, nearest

_MUST_ALIAS = re.compile(r"\{([\d,\s]*)\}\s*:\s*\(\s*(\d+)\s*,\s*\{([\d,\s]*)\}\s*,\s*must-alias", re.ASCII)
# The attributes of a module that XLA's parser knows (HloParserImpl::ParseHloModule).
# A name in the signature of a computation. Group: the character before it.
_PARAMETER_NAME = re.compile(r"(^\(|, )[A-Za-z_][\w.\-]*: ", re.ASCII)
_HEADER_ATTRIBUTES = frozenset(
    (
        "alias_passthrough_params",
        "allow_spmd_sharding_propagation_to_output",
        "allow_spmd_sharding_propagation_to_parameters",
        "buffer_donor",
        "debug_attributes",
        "entry_computation_layout",
        "frontend_attributes",
        "input_output_alias",
        "is_scheduled",
        "num_partitions",
        "origin_recovery_table",
        "replica_count",
    )
)


def find_header_problems(module: HloModule, *, is_lenient: bool) -> Iterator[Diagnostic]:
    """Yields the differences between the header of a computation and its parameters or its ROOT, and malformed headers.

    Parameters are warnings, because XLA's parser skips them. `is_lenient` warns of an unknown attribute, too: a newer
    compiler may write it.
    """
    severity: Severity = "warning" if is_lenient else "error"
    for name, location in unknown_header_attributes(module).items():
        close = nearest(name, _HEADER_ATTRIBUTES)
        message = f"a module has no attribute {name}" + (f"; did you mean {close}?" if close else "")
        yield Diagnostic(message, location, severity)
    texts = _Texts()
    for computation in module.computations:
        yield from _signature_problems(computation, texts)
    for name, text in module.attributes.items():
        problem = value_problem(name, text)
        if problem is not None:
            yield Diagnostic(problem, Location(module.source, _span_of(module, name)))


def unknown_header_attributes(module: HloModule) -> dict[str, Location]:
    """Returns the attributes of a module that XLA's parser does not know, with their locations."""
    unknown = (name for name in module.attributes if name not in _HEADER_ATTRIBUTES)
    return {name: Location(module.source, _span_of(module, name)) for name in unknown}


def _span_of(module: HloModule, name: str) -> Span:
    start = max(module.source.text.find(f"{name}="), 0)
    return Span(start, start + len(name))


class _Texts(dict[Shape, str]):
    """The texts of shapes without layouts, as headers have them."""

    def __missing__(self, shape: Shape) -> str:
        text = self[shape] = str(shape.without_layout)
        return text


def _is_plain_signature(text: str, parameters: Sequence[Shape], result: Shape, texts: _Texts) -> bool:
    """Is true for a signature as XLA prints it that gives these shapes; the names do not matter.

    Is false for most parameters that are tuples: only a parser can say to which element a name in a tuple belongs.
    """
    before, _, after = text.partition(")")
    if after != f" -> {texts[result]}":
        return False
    unnamed, count = _PARAMETER_NAME.subn(itemgetter(1), before)
    return count == len(parameters) and unnamed == f"({', '.join([texts[each] for each in parameters])}"


def _signature_problems(computation: Computation, texts: _Texts) -> Iterator[Diagnostic]:
    span = computation.written.frame.signature
    if span is None or computation.edits.header:
        return
    parameters, result = [each.shape for each in computation.parameters], computation.root.shape
    text = computation.source.text[span.start : span.end]
    if _is_plain_signature(text.rstrip(), parameters, result, texts):
        return
    found = parse_signature(computation.source, span)
    place = Location(computation.source, span)
    if not is_compatible(found.result, result):
        message = (
            f"the header of %{computation.name} gives {found.result}, which is not compatible with its ROOT {result}"
        )
        yield Diagnostic(message, place)
    if len(found.parameters) != len(parameters):
        message = (
            f"the header of %{computation.name} has {len(found.parameters)} parameters instead of {len(parameters)}"
        )
        yield Diagnostic(message, place, "warning")
        return
    for number, (shape, parameter) in enumerate(zip(found.parameters, parameters, strict=True)):
        if not is_compatible(shape, parameter):
            message = f"parameter {number} in the header of %{computation.name} is {shape} instead of {parameter}"
            yield Diagnostic(message, place, "warning")


def find_entry_problems(module: Module, *, is_layout_sensitive: bool = False) -> Iterator[Diagnostic]:
    """Yields the differences between the entry's layout and the entry itself, and aliases of missing values."""
    entry = module.try_entry()
    if entry is None:
        return
    parameters, results = module.entry_layout
    if len(parameters) != len(entry.parameters):
        message = f"the entry layout has {len(parameters)} parameters, but the entry has {len(entry.parameters)}"
        yield Diagnostic(message, entry.parameters[0].location if entry.parameters else None)
        return

    def is_in_place(one: ArrayShape, other: ArrayShape) -> bool:
        # As XLA does: the TPU compiler chooses tiles for parameters before it writes them into the entry layout.
        is_compared = is_layout_sensitive or (one.is_tiled and other.is_tiled)
        return not is_compared or one.effective_layout.minor_to_major == other.effective_layout.minor_to_major

    pairs = [
        *((f"parameter {number}", value) for number, value in enumerate(entry.parameters)),
        *((f"the result {value.name}", value) for value in entry.results),
    ]
    for (name, value), shape in zip(pairs, (*parameters, *results), strict=True):
        if not is_compatible(value.shape, shape):
            yield Diagnostic(f"{name} is {value.shape}, but the entry layout is {shape}", value.location)
        elif not all(map(is_in_place, value.shape.arrays(), shape.arrays())):
            yield Diagnostic(f"{name} is laid out as {value.shape}, but the entry layout as {shape}", value.location)
    is_sized = is_layout_sensitive or module.dialect != "hlo"
    yield from _alias_problems(module, parameters, results, is_sized=is_sized)


def _alias_problems(
    module: Module, parameters: Sequence[Shape], results: Sequence[Shape], *, is_sized: bool
) -> Iterator[Diagnostic]:
    returned = results[0] if module.dialect == "hlo" and results else TupleShape(tuple(results))
    seen: set[object] = set()
    header = Location(module.source, _span_of(module, "input_output_alias")) if isinstance(module, HloModule) else None
    for result_path, number, parameter_path in module.aliases:
        where = header or module.entry.parameters[number].location
        source = parameters[number] if 0 <= number < len(parameters) else None
        parameter, result = subshape(source, parameter_path), subshape(returned, result_path)
        if parameter is None or result is None:
            message = f"an alias joins result {list(result_path)} and parameter {number}, which do not exist"
            yield Diagnostic(message, where)
        elif isinstance(parameter, TupleShape) or isinstance(result, TupleShape):
            yield Diagnostic(f"an alias joins arrays, found the result {result} and parameter {number}", where)
        elif is_sized and not (is_compatible(parameter, result) or _has_same_size(parameter, result)):
            message = f"an alias joins result {result} and parameter {number}, which is {parameter}"
            yield Diagnostic(message, where)
        for place in (("result", result_path), (number, parameter_path)):
            if place in seen:
                what = f"result {list(result_path)}" if place[0] == "result" else f"parameter {number}"
                yield Diagnostic(f"{what} is already aliased by another entry of input_output_alias", where)
            seen.add(place)
    if isinstance(module, HloModule):
        yield from _memory_problems(module, parameters, returned)
        yield from _donor_problems(module, parameters)


def _donor_problems(module: HloModule, parameters: Sequence[Shape]) -> Iterator[Diagnostic]:
    """Yields donated buffers that do not exist, or that an alias already gives to a result."""
    place = Location(module.source, _span_of(module, "buffer_donor"))
    aliased = {(number, path) for _, number, path in module.aliases}
    for number, path in module.donors:
        donor = subshape(parameters[number] if number < len(parameters) else None, path)
        if donor is None or isinstance(donor, TupleShape):
            what = "which does not exist" if donor is None else "which is not an array"
            yield Diagnostic(f"buffer_donor names parameter {number} at {list(path)}, {what}", place)
        elif (number, path) in aliased:
            message = f"parameter {number} at index {list(path)} is registered as a buffer donor, but is also aliased"
            yield Diagnostic(message, place)


def _memory_problems(module: HloModule, parameters: Sequence[Shape], returned: Shape) -> Iterator[Diagnostic]:
    """Yields aliases that the program relies on, of buffers of different shapes, layouts or memory spaces."""
    for found in _MUST_ALIAS.finditer(module.attributes.get("input_output_alias", "")):
        paths = [tuple(numbers_in(found[group])) for group in (1, 3)]
        number = integer(found[2])
        result = subshape(returned, paths[0])
        parameter = subshape(parameters[number] if number < len(parameters) else None, paths[1])
        if parameter is not None and result is not None and _written(result) != _written(parameter):
            message = f"shape and memory space of the result {result} must be those of parameter {number}, {parameter}"
            yield Diagnostic(message, Location(module.source, _span_of(module, "input_output_alias")))


def _written(shape: Shape) -> Shape:
    """Returns a shape whose arrays have their layouts; an absent one is the descending one."""
    return shape.map_arrays(lambda array: array.with_layout(array.effective_layout))


def _has_same_size(first: Shape, second: Shape) -> bool:
    """Is true where one buffer can be both: XLA compares sizes (xla/hlo/ir/hlo_input_output_alias_config.cc)."""
    sizes = [
        shape.element_count * shape.element_type.bits if isinstance(shape, ArrayShape) and shape.is_static else None
        for shape in (first, second)
    ]
    return None not in sizes and sizes[0] == sizes[1]


_Place = tuple[int, tuple[int, ...]]
# Opcodes that pass buffers on without writing them, and those that may have buffers.
_FORWARDING = with_trait(Trait.TUPLES) | {"parameter"}
_BUFFERED = _FORWARDING | named("custom-call dynamic-update-slice while")
# A call with this frontend attribute becomes an asynchronous operation.
_STREAM = "_xla_stream_annotation"


def find_buffer_problems(module: HloModule) -> Iterator[Diagnostic]:
    """Yields buffers where none may be, that several instructions write, or that a call takes and does not return."""
    for computation in module.computations:
        writers: dict[tuple[Instruction, tuple[int, ...]], Instruction] = {}
        for instruction in computation.instructions:
            operands = enumerate(instruction.operands)
            taken = [(number, path) for number, operand in operands for path in _buffers_in(operand.shape)]
            if not taken and not any(True for _ in _buffers_in(instruction.shape)):
                continue
            is_allowed = instruction.opcode in _BUFFERED or bool(split_asynchronous(instruction.opcode)[1])
            is_allowed |= instruction.opcode == "call" and _STREAM in instruction.frontend_attributes
            try:
                if not is_allowed or (instruction.opcode == "parameter" and computation.is_entry):
                    raise ShapeError(f"seen buffers while buffers aren't allowed in this context: {instruction.opcode}")
                _check_returned(instruction, taken)
                _check_writers(instruction, taken, writers)
            except ShapeError as error:
                yield Diagnostic(f"{instruction.name}: {error}", instruction.locate(error.part))


def _buffers_in(shape: Shape) -> Iterator[tuple[int, ...]]:
    return (path for path, leaf in shape.leaves_by_path() if isinstance(leaf, BufferShape))


def _check_returned(instruction: Instruction, taken: list[_Place]) -> None:
    """Raises ShapeError unless a call returns each buffer that it takes once, and no other one."""
    is_call = instruction.opcode == "custom-call" and instruction.callee not in BUFFER_CALLS
    if not is_call and instruction.opcode != f"custom-call{START}":
        return
    instance = Instance(instruction, [each.shape for each in instruction.operands], shape=instruction.shape)
    aliases = list(aliases_of(instance))
    returned = Counter((number, inside) for _, number, inside in aliases)
    for place in taken:
        number, path = place
        if returned[place] > 1:
            message = f"buffer is used in results multiple times: operand {number}, index {list(path)}"
            raise ShapeError(message, "output_to_operand_aliasing")
        if not returned[place]:
            message = f"buffer is used in operands but not in results: operand {number}, index {list(path)}"
            raise ShapeError(message, "operands")
    if instruction.opcode == "custom-call":
        outputs = {path for path, _, _ in aliases}
        for path in _buffers_in(instruction.shape):
            if path not in outputs:
                raise ShapeError(f"buffer is used in results but not in operands: index {list(path)}", "shape")


def _check_writers(
    instruction: Instruction, taken: list[_Place], writers: dict[tuple[Instruction, tuple[int, ...]], Instruction]
) -> None:
    """Raises ShapeError where an instruction writes, or unpins, a buffer that another one has written.

    The next iteration of a loop writes the buffers that the body returns.
    """
    is_returned = instruction.is_root and any(each.opcode == "while" for each in instruction.computation.callers)
    if instruction.opcode in _FORWARDING and not is_returned:
        return
    for number, path in taken:
        value = _origin(instruction.operands[number], path)
        other = writers.setdefault(value, instruction)
        if other is not instruction:
            message = (
                f"an HLO buffer value has more than one writers (or unpins): %{other.name} and %{instruction.name}"
            )
            raise ShapeError(message, "operands")


def _origin(value: Instruction, path: tuple[int, ...]) -> tuple[Instruction, tuple[int, ...]]:
    """Returns the instruction that gives a buffer, and the index of the buffer in its result."""
    while value.opcode in ("tuple", "get-tuple-element"):
        if value.opcode == "get-tuple-element":
            value, path = value.operands[0], ((value.ints("index") or (0,))[0], *path)
        elif not path:
            break
        else:
            value, path = value.operands[path[0]], path[1:]
    return value, path
