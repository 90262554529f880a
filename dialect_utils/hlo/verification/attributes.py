"""Whether the values of attributes, of instructions and of the module's header, have the forms that XLA's parser reads.

Source: xla/hlo/parser/hlo_parser.cc (HloParserImpl::ParseAttributeHelper and the types of attributes there).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from re import Match, Pattern

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.grammar import PLAIN_METADATA, attribute_pattern
from dialect_utils.hlo.text.tokens import QUOTED, STRING, Scanner, repeated
from dialect_utils.layout import Shape
from dialect_utils.ops.table import HLO_OPCODES
from dialect_utils.ops.window import parse_window
from dialect_utils.text import DiagnosticError, Source, without_comments

_INTEGER = r"-?\d{1,19}"
# The escapes that absl::CUnescape reads: characters, and numbers of one byte or of a Unicode character.
_HEX = "[0-9a-fA-F]"
_ESCAPE = (
    rf"\\(?:[abfnrtv\\?'\"]|[0-3][0-7]{{2}}|[0-7]{{1,2}}(?![0-7])|[xX]0*{_HEX}{{1,2}}(?!{_HEX})"
    rf"|(?:u|U0000)(?![dD][89a-fA-F]){_HEX}{{4}}|U00(?:0[1-9a-fA-F]|10){_HEX}{{4}})"
)
_DOUBLE, _SINGLE = (repeated(rf"[^{mark}\\]++|{_ESCAPE}") for mark in ('"', "'"))
_STRING = rf"\"{_DOUBLE}\"|'{_SINGLE}'"
FLAG = r"(?:true|false)"
LEVELS = 4


def listed(item: str) -> str:
    """Returns the pattern of `{item, item}`."""
    return rf"\{{\s*(?:{item}(?:\s*,\s*{item})*)?\s*\}}"


def braces(levels: int) -> str:
    """Returns the pattern of balanced braces of a few levels around anything but unpaired quotes."""
    inner = rf"[^{{}}\"']++|{STRING}|{QUOTED}" + (f"|{braces(levels - 1)}" if levels else "")
    return rf"\{{{repeated(inner)}\}}"


_INTEGERS = listed(_INTEGER)
_FIELD = rf"[A-Za-z_][\w.\-]*+=\s*(?:{_STRING}|{braces(LEVELS)}|[\w.%\-]++)"
_FIELDS = r"\{\s*" + repeated(rf"{_FIELD}[\s,]*+") + r"\}"
# Metadata such as `{op_name="a/b" source_line=3}`; a newer compiler may write other fields.
_NUMBERED = r"(?:source_(?:end_)?(?:line|column)|stack_frame_id)="
_NAMED = r"(?:op_name|op_type|source_file|deduplicated_name|scheduling_name)="
_OF_METADATA = (
    rf"(?:{_NUMBERED}\s*{_INTEGER}(?![\w.])|{_NAMED}\s*(?:{_STRING})|(?!{_NUMBERED}|{_NAMED}|profile_type){_FIELD})"
)
_PROFILE = rf"profile_type=\s*{_INTEGERS}"
METADATA = r"\{\s*" + repeated(rf"(?:{_OF_METADATA}|{_PROFILE})[\s,]*+") + r"\}"
_NAME = r"%?[A-Za-z_][\w.\-]*+"
NAMES = rf"\{{\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\}}"
# `{a="x",b={...}}`
_FRONTEND = listed(rf"[A-Za-z_][\w.\-]*+=\s*(?:{_STRING}|{braces(LEVELS)})")
_DECIMAL = r"-?(?:\d+(?:\.\d*)?(?:[eE][+\-]?\d+)?|inf)"
_TOLERANCE = listed(rf"(?:rtol|atol|ulps)=\s*{_DECIMAL}")
_SIZES = r"-?\d{1,19}(?:x-?\d{1,19})*"
_PADS = r"-?\d{1,19}_-?\d{1,19}(?:x-?\d{1,19}_-?\d{1,19})*"
_OF_WINDOW = rf"(?:pad={_PADS}|(?!pad=)\w+={_SIZES})"
_PATH = r"\{[\d,\s]*\}"
_ALIAS = rf"{_PATH}\s*:\s*(?:\(\s*\d{{1,18}}\s*,\s*{_PATH}\s*(?:,\s*(?:may|must)-alias\s*)?\)|\d{{1,18}})"
_ALIASES = rf"\{{\s*(?:{_ALIAS}\s*,?\s*)*\}}"
# Attributes for debugging of original arrays: `{ {"a" {0}}: ({log_mode=default,op_id=1}) }`.
_OF_DEBUGGING = listed(
    rf"(?:log_mode=\s*(?:default|fusion_debugger)|(?:callback_id|op_id)=\s*{_INTEGER}|partitioned=\s*{FLAG})"
)
_DEBUGGED = (
    rf"\{{\s*(?:(?:{_STRING})\s*(?:{_PATH}\s*)?)?\}}\s*:\s*(?:{_OF_DEBUGGING}|\(\s*(?:{_OF_DEBUGGING}[\s,]*)*\))"
)
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
    (FLAG, "true or false", "alias_passthrough_params is_scheduled"),
    (
        rf"{FLAG}|{listed(FLAG)}",
        "true, false or a list of both",
        "allow_spmd_sharding_propagation_to_output allow_spmd_sharding_propagation_to_parameters",
    ),
    (listed(FLAG), "a list of true and false", "parameter_replication"),
    (METADATA, 'fields such as {op_name="a" source_line=3}', "metadata"),
    (_FRONTEND, 'fields such as {name="value"}', "frontend_attributes"),
    (listed(rf"{_NAME}=\s*{_DECIMAL}"), "fields such as {visualizing_index=1,a=1.5}", "statistics"),
    (NAMES, "names of instructions such as {%a, %b}", "control-predecessors"),
    (r"[\dbf?]{2,}_[\dio?]{2,}->[\dbf?]{2,}", "labels such as b01f_01io->b01f", "dim_labels"),
    (rf"\{{\s*(?:{_OF_WINDOW}(?:\s+{_OF_WINDOW})*)?\s*\}}", "fields such as {size=3x3 pad=0_1x1_1}", "window"),
    (listed("(?i:default|high|highest|packed_nibble)"), "precisions such as {highest,default}", "operand_precision"),
    ("PADDING_(?:INVALID|VALID|SAME)", "a type such as PADDING_SAME", "padding_type"),
    ("SCHEDULE_(?:NONE|LATEST|EARLIEST)", "a schedule such as SCHEDULE_LATEST", "schedule"),
    (r"API_VERSION_(?!UNSPECIFIED)\w+", "a version such as API_VERSION_TYPED_FFI", "api_version"),
    (r"\{\s*(?:\[synthetic_call(?s:.*)|[{(](?s:.*))?\s*\}", 'a tree of arrays such as {{"a" {0}}}', "origin"),
    (r"(?:\(|[a-z]\w*\[)(?s:.*)", "a literal such as f32[] 1", "literal"),
    (
        rf"\{{(?:\s*[lr]hs=\s*\{{(?:\s*(?:sparsity=\d{{1,18}}x\d{{1,18}}|(?:dimension|stride|idx)=\s*{_INTEGER}))*\s*\}})*\s*\}}",
        "fields such as {lhs={sparsity=1x4 dimension=0}}",
        "sparsity_config",
    ),
    (
        rf"\{{\s*(?:mode=\s*(?!(?i:default|highest)\w)\w+|tolerance=\s*{_TOLERANCE})\s*\}}",
        "a mode or a tolerance such as {mode=default}",
        "result_accuracy",
    ),
    (
        rf"{listed(_INTEGERS)}|\[(?s:.*)|mesh(?s:.*)|@(?s:.*)",
        "lists of integers such as {{0,1},{2,3}}",
        "replica_groups",
    ),
    (listed(_INTEGERS), "pairs of integers such as {{0,1},{1,0}}", "source_target_pairs"),
    (rf"{_INTEGERS}|{listed(_INTEGERS)}", "sizes such as {1,2} or {{1,2},{3,4}}", "slice_sizes"),
    (_ALIASES, "integers in entries such as {1}: (0, {0})", "input_output_alias output_to_operand_aliasing"),
    (_DONORS, "integers in entries such as (0, {0})", "buffer_donor"),
    (listed(_DEBUGGED), 'entries such as {"a"}:({log_mode=default})', "debug_attributes"),
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
