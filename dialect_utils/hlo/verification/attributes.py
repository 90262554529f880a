"""Whether the values of attributes, of instructions and of the module's header, have the forms that XLA's parser reads.

Source: xla/hlo/parser/hlo_parser.cc (HloParserImpl::ParseAttributeHelper and the types of attributes there).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from dialect_utils.hlo.text.grammar import attribute_pattern
from dialect_utils.hlo.text.tokens import Scanner, repeated
from dialect_utils.ops.table import HLO_OPCODES
from dialect_utils.text import DiagnosticError, Source, without_comments

_INTEGER = r"-?\d{1,19}"
_STRING = r"\"(?:[^\"\\]|\\(?s:.))*+\"|'(?:[^'\\]|\\(?s:.))*+'"
_FLAG = r"(?:true|false)"
_LEVELS = 4


def _listed(item: str) -> str:
    return rf"\{{\s*(?:{item}(?:\s*,\s*{item})*)?\s*\}}"


def _braces(levels: int) -> str:
    """Returns the pattern of balanced braces of a few levels around anything but unpaired quotes."""
    inner = rf"[^{{}}\"']++|{_STRING}" + (f"|{_braces(levels - 1)}" if levels else "")
    return rf"\{{{repeated(inner)}\}}"


_INTEGERS = _listed(_INTEGER)
_FIELD = rf"[A-Za-z_][\w.\-]*+\s*=\s*(?:{_STRING}|{_braces(_LEVELS)}|[\w.%\-]++)"
# The fields of metadata and of frontend attributes: `{op_name="a/b" source_line=3}`, `{a="x",b={...}}`.
FIELDS = r"\{\s*" + repeated(rf"{_FIELD}[\s,]*+") + r"\}"
_PATH = r"\{[\d,\s]*\}"
_ALIAS = rf"{_PATH}\s*:\s*(?:\(\s*\d{{1,9}}\s*,\s*{_PATH}\s*(?:,\s*(?:may|must)-alias\s*)?\)|\d+)"
_ALIASES = rf"\{{\s*(?:{_ALIAS}\s*,?\s*)*\}}"
_DONORS = rf"\{{\s*(?:\(\s*\d+\s*,\s*{_PATH}\s*\)\s*,?\s*)*\}}"

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
    (FIELDS, 'fields such as {name="value"}', "metadata frontend_attributes"),
    (rf"\{{\s*(?:\w+\s*=\s*{FIELDS}[\s,]*)*\}}", "fields such as {lhs={dimension=0}}", "sparsity_config"),
    (rf"\{{\s*{_FIELD}\s*\}}", "a mode or a tolerance such as {mode=default}", "result_accuracy"),
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
# Values of several tokens and brackets, which other checks read: shapes, literals and shardings.
_COMPOUND = frozenset(("entry_computation_layout", "literal", "outfeed_shape", "sharding"))


def value_problem(name: str, text: str) -> str | None:
    """Returns why XLA's parser rejects the value of an attribute, or None."""
    found = _forms().get(name)
    if found is None:
        if name == _CONFIGURATION and text[:1] not in ('"', "'", "{"):
            return f"{name} expects a string or a JSON object, found {text}"
        return None if name in _COMPOUND or _is_one_value(name, text) else f"{name} has more than one value: {text}"
    pattern, description = found
    if pattern.fullmatch(text) or pattern.fullmatch(without_comments(text).strip()):
        return None
    return f"{name} expects {description}, found {text}"


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
        is_group = scanner.token.text in ("(", "[", "{")
        if is_group:
            scanner.group()
        else:
            scanner.next()
    except DiagnosticError:
        return False
    # The parts of `b0f_0io->b0f` belong together.
    return scanner.token.kind == "end" or (not is_group and scanner.token.kind == "mark")
