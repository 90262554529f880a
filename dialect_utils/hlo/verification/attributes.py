"""Whether the values of attributes, of instructions and of the module's header, have the forms that XLA's parser reads.

Source: xla/hlo/parser/hlo_parser.cc (HloParserImpl::ParseAttributeHelper and the types of attributes there).
A sharding also has to fit its shape, and those of a loop or branch have to agree (xla/hlo/ir/hlo_sharding.cc).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from math import prod
from re import Match, Pattern

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.grammar import PLAIN_METADATA, attribute_pattern
from dialect_utils.hlo.text.tokens import QUOTED, STRING, Scanner, repeated
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops.devices import check_iota, numbers_in
from dialect_utils.ops.inference import ShapeError
from dialect_utils.ops.table import HLO_OPCODES
from dialect_utils.ops.window import parse_window
from dialect_utils.text import Diagnostic, DiagnosticError, Source, without_comments

_INTEGER = r"-?\d{1,19}"
# The escapes that absl::CUnescape reads: characters, and numbers of one byte or of a Unicode character.
_HEX = "[0-9a-fA-F]"
_ESCAPE = (
    rf"\\(?:[abfnrtv\\?'\"]|[0-3][0-7]{{2}}|[0-7]{{1,2}}(?![0-7])|[xX]0*{_HEX}{{1,2}}(?!{_HEX})"
    rf"|(?:u|U0000)(?![dD][89a-fA-F]){_HEX}{{4}}|U00(?:0[1-9a-fA-F]|10){_HEX}{{4}})"
)
_DOUBLE, _SINGLE = (repeated(rf"[^{mark}\\]++|{_ESCAPE}") for mark in ('"', "'"))
_STRING = rf"\"{_DOUBLE}\"|'{_SINGLE}'"
_FLAG = r"(?:true|false)"
_LEVELS = 4


def _listed(item: str) -> str:
    return rf"\{{\s*(?:{item}(?:\s*,\s*{item})*)?\s*\}}"


def _braces(levels: int) -> str:
    """Returns the pattern of balanced braces of a few levels around anything but unpaired quotes."""
    inner = rf"[^{{}}\"']++|{STRING}|{QUOTED}" + (f"|{_braces(levels - 1)}" if levels else "")
    return rf"\{{{repeated(inner)}\}}"


_INTEGERS = _listed(_INTEGER)
_FIELD = rf"[A-Za-z_][\w.\-]*+\s*=\s*(?:{_STRING}|{_braces(_LEVELS)}|[\w.%\-]++)"
_FIELDS = r"\{\s*" + repeated(rf"{_FIELD}[\s,]*+") + r"\}"
# Metadata such as `{op_name="a/b" source_line=3}`; a newer compiler may write other fields.
_NUMBERED = r"(?:source_(?:end_)?(?:line|column)|stack_frame_id)\s*="
_NAMED = r"(?:op_name|op_type|source_file|deduplicated_name|scheduling_name)\s*="
_OF_METADATA = (
    rf"(?:{_NUMBERED}\s*{_INTEGER}(?![\w.])|{_NAMED}\s*(?:{_STRING})|(?!{_NUMBERED}|{_NAMED}|profile_type){_FIELD})"
)
_PROFILE = rf"profile_type\s*=\s*{_INTEGERS}"
METADATA = r"\{\s*" + repeated(rf"(?:{_OF_METADATA}|{_PROFILE})[\s,]*+") + r"\}"
_NAME = r"%?[A-Za-z_][\w.\-]*+"
NAMES = rf"\{{\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\}}"
# `{a="x",b={...}}`
_FRONTEND = _listed(rf"[A-Za-z_][\w.\-]*+\s*=\s*(?:{_STRING}|{_braces(_LEVELS)})")
_DECIMAL = r"-?(?:\d+(?:\.\d*)?(?:[eE][+\-]?\d+)?|inf)"
_TOLERANCE = _listed(rf"(?:rtol|atol|ulps)\s*=\s*{_DECIMAL}")
_SIZES = r"-?\d{1,19}(?:x-?\d{1,19})*"
_PADS = r"-?\d{1,19}_-?\d{1,19}(?:x-?\d{1,19}_-?\d{1,19})*"
_OF_WINDOW = rf"(?:pad={_PADS}|(?!pad=)\w+={_SIZES})"
_PATH = r"\{[\d,\s]*\}"
_ALIAS = rf"{_PATH}\s*:\s*(?:\(\s*\d{{1,18}}\s*,\s*{_PATH}\s*(?:,\s*(?:may|must)-alias\s*)?\)|\d{{1,18}})"
_ALIASES = rf"\{{\s*(?:{_ALIAS}\s*,?\s*)*\}}"
_DONORS = rf"\{{\s*(?:\(\s*\d{{1,18}}\s*,\s*{_PATH}\s*\)\s*,?\s*)*\}}"

# A form: the pattern, and how a message names it. The names of attributes that have it are given between spaces.
_FORMS = (
    (
        _INTEGER,
        "an integer",
        "batch_group_count channel_id cross_program_prefetch_index delta exponent_bits feature_group_count "
        "feature_index index index_vector_dim inferred_dimension iota_dimension k mantissa_bits num_carries",
    ),
    (r"\d{1,18}", "a count such as 2", "num_partitions replica_count"),
    (_STRING, "a string", "custom_call_target infeed_config outfeed_config async_execution_thread"),
    (_FLAG, "true or false", "alias_passthrough_params is_scheduled"),
    (
        rf"{_FLAG}|{_listed(_FLAG)}",
        "true, false or a list of both",
        "allow_spmd_sharding_propagation_to_output allow_spmd_sharding_propagation_to_parameters",
    ),
    (_listed(_FLAG), "a list of true and false", "parameter_replication"),
    (METADATA, 'fields such as {op_name="a" source_line=3}', "metadata"),
    (_FRONTEND, 'fields such as {name="value"}', "frontend_attributes"),
    (_listed(rf"{_NAME}\s*=\s*{_DECIMAL}"), "fields such as {visualizing_index=1,a=1.5}", "statistics"),
    (NAMES, "names of instructions such as {%a, %b}", "control-predecessors"),
    (r"[\dbf?]{2,}_[\dio?]{2,}->[\dbf?]{2,}", "labels such as b01f_01io->b01f", "dim_labels"),
    (rf"\{{\s*(?:{_OF_WINDOW}(?:\s+{_OF_WINDOW})*)?\s*\}}", "fields such as {size=3x3 pad=0_1x1_1}", "window"),
    (_listed("(?i:default|high|highest|packed_nibble)"), "precisions such as {highest,default}", "operand_precision"),
    ("PADDING_(?:INVALID|VALID|SAME)", "a type such as PADDING_SAME", "padding_type"),
    ("SCHEDULE_(?:NONE|LATEST|EARLIEST)", "a schedule such as SCHEDULE_LATEST", "schedule"),
    (r"API_VERSION_(?!UNSPECIFIED)\w+", "a version such as API_VERSION_TYPED_FFI", "api_version"),
    (r"\{\s*(?:\[synthetic_call(?s:.*)|[{(](?s:.*))?\s*\}", 'a tree of arrays such as {{"a" {0}}}', "origin"),
    (r"(?:\(|[a-z]\w*\[)(?s:.*)", "a literal such as f32[] 1", "literal"),
    (rf"\{{\s*(?:\w+\s*=\s*{_FIELDS}[\s,]*)*\}}", "fields such as {lhs={dimension=0}}", "sparsity_config"),
    (
        rf"\{{\s*(?:mode\s*=\s*(?!(?i:default|highest)\w)\w+|tolerance\s*=\s*{_TOLERANCE})\s*\}}",
        "a mode or a tolerance such as {mode=default}",
        "result_accuracy",
    ),
    (
        rf"{_listed(_INTEGERS)}|\[(?s:.*)|mesh(?s:.*)|@(?s:.*)",
        "lists of integers such as {{0,1},{2,3}}",
        "replica_groups",
    ),
    (_listed(_INTEGERS), "pairs of integers such as {{0,1},{1,0}}", "source_target_pairs"),
    (_ALIASES, "integers in entries such as {1}: (0, {0})", "input_output_alias output_to_operand_aliasing"),
    (_DONORS, "integers in entries such as (0, {0})", "buffer_donor"),
)
# A string or a JSON object, of any depth.
_CONFIGURATION = "backend_config"
# Values of several tokens and brackets, which other checks read: shapes and shardings.
_COMPOUND = frozenset(("entry_computation_layout", "outfeed_shape", "sharding"))

_SIZE = re.compile(r"\bsize=(\S*?)[\s}]")


def value_problem(name: str, text: str) -> str | None:
    """Returns why XLA's parser rejects the value of an attribute, or None."""
    found = _forms().get(name)
    if found is None:
        if name == _CONFIGURATION and not re.match(rf"\{{|(?:{_STRING})\Z", text):
            return f"{name} expects a string or a JSON object, found {text}"
        return None if name in _COMPOUND or _is_one_value(name, text) else f"{name} has more than one value: {text}"
    pattern, description = found
    if not pattern.fullmatch(text):
        text = without_comments(text).strip()
        if not pattern.fullmatch(text):
            return f"{name} expects {description}, found {text}"
    if name == "dim_labels":
        return _labels_problem(text)
    return _window_problem(text) if name == "window" else None


def _labels_problem(text: str) -> str | None:
    """Returns why dimension labels of the right form disagree, such as `bf0_oi01->bf0`, or None."""
    parts = re.split("_|->", text)
    for part, beyond in zip(parts, (1, 1, 0), strict=True):
        labels = part.replace("?", "")
        if len(set(labels)) < len(labels):
            return f"the dim_labels {text} name a dimension twice in {part}"
        # XLA's parser allows these, although a convolution of the array has fewer spatial dimensions.
        largest = len(part) - 1 - beyond
        if any(label.isdigit() and int(label) > largest for label in labels):
            return f"the dim_labels {text} name a dimension beyond {largest} in {part}"
    counts = [sum(map(str.isdigit, part)) for part in parts]
    if len(set(counts)) > 1:
        return f"the dim_labels {text} have {', '.join(map(str, counts))} spatial dimensions, which differ"
    return None


def _window_problem(text: str) -> str | None:
    """Returns why the fields of a window disagree, such as `{size=2x2 stride=1}`, or None."""
    size = _SIZE.search(text)
    try:
        parse_window(" ".join(text.split()), size[1].count("x") + 1 if size else 0)
    except ValueError as error:
        return str(error)
    return None


@cache
def _forms() -> Mapping[str, tuple[re.Pattern[str], str]]:
    forms: dict[str, tuple[re.Pattern[str], str]] = {}
    for pattern, description, names in _FORMS:
        forms |= dict.fromkeys(names.split(), (re.compile(pattern, re.ASCII), description))
    integers = re.compile(_INTEGERS, re.ASCII), "integers such as {0,1}"
    for opcode in HLO_OPCODES:
        for attribute in opcode.attributes:
            if attribute.is_integers:
                forms.setdefault(attribute.name, integers)
    return forms


def _is_one_value(name: str, text: str) -> bool:
    """Is true for one token or one bracketed group."""
    if attribute_pattern().fullmatch(f", {name}={text}"):
        return True
    scanner = Scanner(Source("<value>", text))
    try:
        if scanner.token.text in ("(", "[", "{"):
            scanner.group()
        else:
            scanner.next()
    except DiagnosticError:
        return False
    return scanner.token.kind == "end"


# `devices=[2,1]0,1` and `devices=[2,1]<=[2]`, the last dimensions being subgroups.
_TILES = re.compile(r"devices=\[(?P<sizes>[\d,]+)\](?:(?P<listed>\d+(?:,\d+)*)|<=\[(?P<iota>[\d,]+)\])?")
_SHARDING = re.compile(r"\{\s*(?:replicated|manual|maximal|devices=|unknown|unreduced|\{|/\*|mesh|\}|last_tile)")
# The shardings of a tuple's leaves: `{{replicated}, {devices=[2]0,1}}`.
_OF_LEAVES = re.compile(_listed(rf"(?!\{{\s*\}}){_braces(_LEVELS)}"))
_SUBGROUPS = re.compile(r"last_tile_dims=\{([^}]*)\}")
_ATTRIBUTE = "sharding"


def check_sharding(instruction: Instruction, partitions: int) -> None:
    """Raises ShapeError where the sharding of an array does not fit it, or names devices that do not exist."""
    text, shape = instruction.attribute(_ATTRIBUTE), instruction.shape
    if text is None:
        return
    _check_count(text, shape)
    if not isinstance(shape, ArrayShape):
        return
    if not _SHARDING.match(text):
        raise ShapeError(f"{text} is not a valid sharding", _ATTRIBUTE)
    found = _TILES.search(text)
    if found is None:
        return
    sizes = numbers_in(found["sizes"])
    rank = len(sizes) - _subgroups(text)
    if rank != shape.rank:
        message = (
            f"the sharding {text} has {rank} tile assignment dimensions, excluding subgroups, but {shape} has rank "
        )
        raise ShapeError(f"{message}{shape.rank}", _ATTRIBUTE)
    if prod(sizes) == 1 or any(size < 1 for size in sizes):
        raise ShapeError(f"the sharding {text} is one of fewer than two devices", _ATTRIBUTE)
    if found["iota"] is not None:
        check_iota(f"sharding {text}", sizes, numbers_in(found["iota"]), _ATTRIBUTE)
    if found["listed"] is not None:
        _check_devices(text, sizes, numbers_in(found["listed"]), partitions)


def _check_count(text: str, shape: Shape) -> None:
    """Raises ShapeError where a list of shardings has another number of entries than the shape has leaves.

    Source: HloSharding::CheckLeafCount in xla/hlo/ir/hlo_sharding.cc; an array is its only leaf.
    """
    text = without_comments(text).strip()
    inner = text[1:-1]
    if not inner.lstrip().startswith("{"):
        return
    if not _OF_LEAVES.fullmatch(text):
        raise ShapeError(f"{text} is not a valid sharding", _ATTRIBUTE)
    depths = accumulate((mark == "{") - (mark == "}") for mark in inner)
    count = sum(depth == 0 and mark == "}" for depth, mark in zip(depths, inner, strict=True))
    # An empty tuple has the sharding of one value.
    if count != max(shape.leaf_count, 1):
        of = f"a tuple of {shape.leaf_count} leaves" if isinstance(shape, TupleShape) else str(shape)
        raise ShapeError(f"the sharding has {count} entries for {of}", _ATTRIBUTE)


def _check_devices(text: str, sizes: list[int], devices: list[int], partitions: int) -> None:
    if prod(sizes) != len(devices):
        message = f"the sharding {text} has {len(devices)} devices, which does not match its {prod(sizes)} tiles"
        raise ShapeError(message, _ATTRIBUTE)
    if len(set(devices)) < len(devices):
        raise ShapeError(f"the sharding {text} names a device twice", _ATTRIBUTE)
    if 1 < partitions <= max(devices):
        raise ShapeError(f"the sharding {text} names device {max(devices)}, but there are {partitions}", _ATTRIBUTE)


def _subgroups(text: str) -> int:
    """Returns how many of the last dimensions of a sharding are not dimensions of the array."""
    named = _SUBGROUPS.search(text)
    if named is not None:
        return len([name for name in named[1].split(",") if name.strip()])
    return 1 if "last_tile_dim_replicate" in text else 0


def find_inconsistent_shardings(instruction: Instruction) -> Iterator[Diagnostic]:
    """Yields an error for each loop or branch whose sharding differs from that of its computations.

    The rule is XLA's VerifyConsistentSharding.
    """
    if instruction.opcode == "while":
        parts = [instruction, *(each for called in instruction.called for each in called.parameters[:1])]
        parts += [instruction.called_as("body").root] if "body" in instruction.roles else []
    else:
        parts = [instruction, *(called.root for called in instruction.called)]
    texts = {text for each in parts if (text := each.attribute(_ATTRIBUTE)) is not None}
    if len(texts) > 1:
        listed = " and ".join(sorted(texts))
        message = f"{instruction.name}: inconsistent {instruction.opcode} sharding among instructions: {listed}"
        yield Diagnostic(message, instruction.locate(_ATTRIBUTE))


# Signatures: equal instructions are verified once

# The opcode and the attributes, then the contents and the shapes.
Signature = tuple[object, ...]


class Signatures:
    """The signatures of one module's instructions."""

    def __init__(self) -> None:
        # Attribute texts without their varying values.
        self._normal: dict[str, str] = {}

    def of(self, instruction: Instruction) -> Signature:
        """Returns all that the checks of one instruction read: opcode, attributes, contents and shapes.

        The shapes are those of the instruction, its operands and the interfaces of the computations it calls. Shapes
        are compared by identity, because the reader makes one object of equal texts.
        """
        text = instruction.attribute_text
        signature = (
            instruction.opcode,
            text and self._without_varying(text),
            instruction.contents,
            id(instruction.shape),
            *[id(operand.shape) for operand in instruction.operands],
        )
        called = instruction.called
        return (*signature, *map(_interface, called)) if called else signature

    def _without_varying(self, text: str) -> str | tuple[str, str]:
        """Returns an attribute text with the names only of attributes whose values affect no check.

        Most metadata is unique; the attributes before and after metadata are not.
        """
        found = PLAIN_METADATA.search(text)
        if found is None:
            return self._normal_part(text)
        before, after = text[: found.start()], text[found.end() :]
        return before and self._normal_part(before), after and self._normal_part(after)

    def _normal_part(self, text: str) -> str:
        known = self._normal.get(text)
        if known is None:
            known = self._normal[text] = _varying().sub(_name_alone, text)
        return known


def shapes_of(instruction: Instruction) -> tuple[Shape, ...]:
    """Returns the shapes whose identities are in the signature of an instruction."""
    called = [value for each in instruction.called for value in (each.root, *each.parameters)]
    return tuple([value.shape for value in (instruction, *instruction.operands, *called)])


def _name_alone(attribute: Match[str]) -> str:
    # A function is faster than a template with a group, which Python parses again for each text.
    return f" {attribute[1]}"


def _interface(called: Computation) -> tuple[int, ...]:
    return (id(called.root.shape), *[id(parameter.shape) for parameter in called.parameters])


@cache
def _varying() -> Pattern[str]:
    """Returns the pattern of attributes whose values affect no check as long as they are well formed."""
    metadata = rf"metadata(?=={METADATA})"
    return attribute_pattern(
        rf"{metadata}|backend_config(?==[{{\"])|calls|to_apply|condition|body|control-predecessors(?=={NAMES})"
    )
