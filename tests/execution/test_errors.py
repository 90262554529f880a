"""jaxlib's messages in this project's form."""

from __future__ import annotations

import pytest

from dialect_utils.execution.errors import from_jaxlib


@pytest.mark.parametrize(
    ("message", "failure", "text"),
    [
        (
            "INTERNAL: RET_CHECK failure (external/xla/xla/service/cpu/thunk_emitter.cc:12) a->has() no config",
            "rejected",
            "XLA itself failed while the module was compiled: "
            "a check in xla/service/cpu/thunk_emitter.cc:12 failed: a->has() no config",
        ),
        ("INTERNAL: Foo happened.", "rejected", "XLA itself failed while the module was compiled: Foo happened"),
        (
            "Span::at failed bounds check",
            "rejected",
            "XLA itself failed while the module was compiled: Span::at failed bounds check",
        ),
        (
            "INTERNAL: Unsupported type: TUPLE",
            "unsupported",
            "jaxlib reads no constant that is a tuple (unsupported type: TUPLE)",
        ),
        (
            "INVALID_ARGUMENT: during context [hlo verifier]: The XLA CPU/GPU backend does not support custom element "
            "sizes on non-sub-byte types: %i = s32[4,6]{1,0:E(4)} iota()",
            "unsupported",
            None,
        ),
        ("INVALID_ARGUMENT: Binary op add with different element types", "rejected", None),
        ("UNIMPLEMENTED: acosh", "unsupported", "acosh"),
    ],
)
def test_an_error_names_the_module_or_the_engine_as_its_cause(message: str, failure: str, text: str | None) -> None:
    error = from_jaxlib("rejected", message, None, "compiled")
    assert error.failure == failure
    assert error.is_refusal == (failure == "rejected")
    assert text is None or error.message == text
