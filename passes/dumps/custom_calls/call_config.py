"""The backend_config of XLA:GPU's custom calls, and the errors for unsupported calls.

The fields are those of xla/service/gpu/backend_configs.proto, printed as JSON. 64-bit integers are strings; enumerators
are names or, in legacy dumps, numbers. Legacy dumps may quote the whole text, lack `gemm_backend_config` around the
fields, or lack quotes around the names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialect_utils.hlo import Instruction
from dialect_utils.text import DiagnosticError

# An attribute of a foreign function, `lower = true` or `uplo = 76 : ui8`.
_ATTRIBUTE = re.compile(r'(\w+) = ("[^"\\]*"|-?[\w.+-]+)(?: : \w+)?(?=, |\})', re.ASCII)
_BARE_NAME = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:", re.ASCII)


def refused(call: Instruction, why: str) -> DiagnosticError:
    """Returns the error for a known custom call in an unsupported form."""
    operands = ", ".join(f"{operand.name}: {operand.shape}" for operand in call.operands)
    message = f"custom call {call.name} calls {call.callee}, but {why}; operands: ({operands})"
    hint = f"give its computation: --custom-call {call.callee}=module.hlo"
    return DiagnosticError(message, call.location, hint=hint)


def check_operands(call: Instruction, *counts: int) -> None:
    """Raises DiagnosticError for a call that has another number of operands."""
    if len(call.operands) not in counts:
        wanted = " or ".join(map(str, counts))
        raise refused(call, f"it has {len(call.operands)} operands, where {wanted} are expected")


@dataclass(frozen=True, slots=True)
class CallConfig:
    """The backend_config of one custom call; reading a missing number or word is an error."""

    call: Instruction
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, call: Instruction, part: str | None = None) -> CallConfig:
        """Reads the config of a call, or its field `part` if present; raises DiagnosticError if it has no config."""
        text = call.attribute("backend_config")
        if text is None:
            raise refused(call, "it has no backend_config, which says what it computes")
        fields = _parse(text)
        if not isinstance(fields, dict):
            raise refused(call, f"its backend_config {text} cannot be read")
        inner = fields.get(part, fields) if part is not None else fields
        return cls(call, inner if isinstance(inner, dict) else {})

    def number(self, name: str) -> float:
        """Returns a number."""
        try:
            return float(str(self._field(name)))
        except ValueError:
            raise self._unreadable(name) from None

    def text(self, name: str) -> str:
        """Returns a text."""
        return str(self._field(name))

    def word(self, name: str, words: Sequence[str], default: str | None = None) -> str:
        """Returns the name of an enumerator; `words` has the names in the order of their numbers."""
        if name not in self.fields and default is not None:
            return default
        value = str(self._field(name))
        if value.isdecimal() and int(value) < len(words):
            return words[int(value)]
        if value not in words:
            raise self._unreadable(name)
        return value

    def flag(self, name: str) -> bool:
        """Returns a truth value, false if it is absent, as in XLA."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise self._unreadable(name)
        return value

    def ints(self, *path: str) -> tuple[int, ...]:
        """Returns a list of integers, empty if it is absent, as in XLA."""
        value: Any = self.fields
        for name in path:
            value = value.get(name, {}) if isinstance(value, dict) else {}
        try:
            return tuple(int(item) for item in value)
        except (TypeError, ValueError):
            raise self._unreadable(path[-1]) from None

    def _field(self, name: str) -> object:
        if name not in self.fields:
            raise refused(self.call, f"its backend_config does not say {name}")
        return self.fields[name]

    def _unreadable(self, name: str) -> DiagnosticError:
        return refused(self.call, f"its {name} is {self.fields.get(name)}, which is not known here")


def _parse(text: str) -> object:
    """Returns the value of the JSON text of a backend_config, or None."""
    try:
        inner = json.loads(text) if text.startswith('"') else text
    except (ValueError, RecursionError):
        return None
    for candidate in (inner, _BARE_NAME.sub(r'\1"\2":', inner), _ATTRIBUTE.sub(r'"\1":\2', inner)):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return None
