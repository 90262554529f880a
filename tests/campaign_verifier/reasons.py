"""Why this verifier and XLA disagree, where that is on purpose: one row for each reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.campaign_verifier.comparison import Comparison, our_answer


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason, and the patterns of the message and of the text that it belongs to.

    In the pattern of the text, `<1>` stands for the first group of the message.
    """

    message: str
    reason: str
    text: str = ""

    def explains(self, message: str, text: str) -> bool:
        """Is true where both patterns occur."""
        found = re.search(self.message, message)
        if found is None:
            return False
        # A message has no zeros before a number.
        quoted = re.sub(r"\d+", r"0*\g<0>", re.escape(found[1] or "")) if found.re.groups else ""
        return re.search(self.text.replace("<1>", quoted), text) is not None


LENIENT = "a compiler wrote the module: unknown attributes and mixed element types are accepted"
# Messages of XLA, for texts that are accepted here.
ACCEPTED = (
    Reason(r"^read: rejected: computation does not exist", "computations are in any order; execution sorts them"),
    Reason(r"^read: .*Allowed attributes: deduplicated_name", "metadata may have fields of a newer compiler"),
    Reason(r"^read: .*async(Update|Done|Start)", "newer XLA binds operands of asynchronous operations in updates"),
    Reason(
        r"^compiled: rejected: .*(element type|compatible types)",
        "floats of two precisions mix, as XLA's verifier allows; StableHLO's does not",
    ),
    Reason(r"^converted: .*unsupported conversion between element types", "jaxlib converts no such convolution"),
    Reason(r"^converted: .*non-empty replica groups", "XLA's verifier takes an all-to-all without groups"),
    Reason(r"^converted: .*Unsupported type: OPAQUE_TYPE", "jaxlib converts no opaque values"),
    Reason(r"a check in xla/layout.h:\d+ failed: dimension >= 0", "jaxlib's conversion aborts at tiles such as T(*,8)"),
    Reason(
        r"Expected aliased input .* to have the same size",
        "XLA's compiler compares the sizes of a may-alias; its verifier does so in layout-sensitive mode only",
        r"may-alias|: *\(\d+, *\{[\d, ]*\}\)|\}: *\d",
    ),
    Reason(r"Unbounded dynamism is disabled", "arrays of any size, which XLA's verifier has by option"),
    Reason(r"^read: rejected: expects name", "inf and nan may name instructions", r"\b(?:inf|nan)\b *="),
)
# Messages of this verifier, for texts that jaxlib accepts.
REFUSED = (
    Reason(
        r": (?:tuple|get-tuple-element|all-gather|add-dependency|call|while) gives |takes element \d+ of a tuple",
        "jaxlib's conversion drops shapes of tuples, calls and loops; XLA's verifier (HandleTuple) compares them",
    ),
    Reason(r": (?:dot|convolution|ragged-dot|scaled-dot) gives ", "complex numbers and their parts are no one type"),
    Reason(
        r"entry layout",
        "jaxlib's conversion drops the entry layout; XLA's verifier (VerifyEntryComputationLayout) compares it",
    ),
    Reason(
        r"^buffer_donor names|^an alias joins|already aliased|buffer donor",
        "jaxlib's conversion drops aliases and donors; XLA's verifier (HloBufferDonorConfig::Verify) compares them",
    ),
    Reason(
        r"laid out as .*, but (parameter|the ROOT)|fusion gives ",
        "jaxlib's conversion drops the layouts and the written shapes of fusions",
    ),
    Reason(r"the replica_groups of .* should contain \d+ replicas", "jaxlib's conversion drops replica_count"),
    Reason(r"^(?:replica_count|num_partitions) expects a count", "jaxlib's conversion drops counts of devices below 0"),
    Reason(
        r"(?:-start|-update|-done) expects |no matching async done|trace back to an async|only the root and parameters",
        "jaxlib's conversion drops states of asynchronous operations; XLA's verifier (HandleAsyncStart) compares them",
    ),
    Reason(
        r"of the fusion computation .* must have users|ROOT of a fusion may not have users",
        "jaxlib's conversion drops unused instructions of fusions; CheckFusionInstruction rejects them",
    ),
    Reason(
        r"mismatched tuple structure in the origin", "jaxlib's conversion drops origins; VerifyOriginalValue reads them"
    ),
    Reason(
        r"the window has 1 elements in dimension \d+, but the kernel",
        "jaxlib's conversion gives a convolution without a window that of the kernel; XLA's shape inference does not",
        r"convolution\((?![^\n]*window=)",
    ),
    Reason(r"needs an order T\(\.\.\.\)", "XLA's parser reads an order of dimensions that repeats one"),
    Reason(
        r"in the schedule|will cause a deadlock|source-target pairs",
        "jaxlib's conversion drops schedules; XLA's verifier (VerifyNoCollectiveDeadlocks) follows them",
    ),
    Reason(r"^S\(\d+\) is greater than|^S\(-\d+\) must not", "XLA stores the lowest bits of a memory space"),
    Reason(
        r"^minor_to_major (\{[-\d,]+\}) (?:repeats|names) dimension",
        "XLA's parser compares a layout with the rank alone; jaxlib's conversion drops those of operands and the entry",
        # The shape is not that of an instruction: no `=` is before it.
        r"(?:[(,]|->) *\w+\[[\d,]*\](?=<1>)",
    ),
    Reason(
        r": bitcast-convert gives \w+\[(?:(?P<few>[\d,]*)\], but the shape is \w+\[(?P=few)(?:\b[\d,]*)?\]"
        r"|(?P<many>[\d,]*)(?:\b[\d,]*)?\], but the shape is \w+\[(?P=many)\])",
        "StableHLO's verifier compares the dimensions that both shapes of a bitcast-convert have; XLA's "
        "(HandleBitcastConvert) compares all",
    ),
    Reason(
        r"^expected '\)', found '\}'",
        "XLA's parser needs no parenthesis behind the last field of a layout",
        r"\]\{[\d,]*:[^{}]*[A-Z]\([^(){}]*\}",
    ),
    Reason(r"^expected an operand, found ','", "XLA's parser skips a repeated comma between operands"),
)


def reason_for(found: Comparison, text: str) -> str | None:
    """Returns why the answers differ, or None for a difference without a known reason."""
    if found.outcome == "refused here":
        return next((each.reason for each in REFUSED if each.explains(found.ours or "", text)), None)
    if our_answer(text, is_lenient=False) is not None:
        return LENIENT
    return next((each.reason for each in ACCEPTED if each.explains(str(found.theirs), text)), None)
