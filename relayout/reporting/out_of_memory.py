"""Messages that memory ran out, as a page for a terminal and as JSON: the largest waste first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dialect_utils.memory.messages import MessageAllocation, OutOfMemory
from dialect_utils.memory.rows import LEAST_SHARE, Group, grouped, origin_text
from dialect_utils.text import format_bytes
from relayout.reporting.terminal import clip, ranked

_MODULES = 'XLA_FLAGS="--xla_dump_to=dump --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"'
_PLACES = 'LIBTPU_INIT_ARGS="--xla_jf_dump_to=dump --xla_jf_dump_hlo_text=true"'
# The compiler's tags and labels name what needs the memory; each has a remedy.
_REMEDIES = (
    ("window allocation", "a smaller block_shape in the kernel's BlockSpec makes the window smaller"),
    ("scratch operand", "smaller scratch_shapes of the kernel take less"),
    ("prefetched SMEM operand", "fewer or narrower scalars among the num_scalar_prefetch operands take less"),
    ("spill slots", "registers are spilled: smaller values in the body of the kernel, or fewer at a time, need fewer"),
)


def messages_page(messages: Sequence[OutOfMemory], width: int | None = None) -> str:
    """Returns the page about some messages, and how to get a dump of the program."""
    is_tpu = any(each.space for each in messages)
    return clip((line for part in (*map(_message, messages), _how_to_dump(is_tpu)) for line in part), width)


def messages_json(messages: Sequence[OutOfMemory]) -> list[dict[str, Any]]:
    """Returns the messages as plain values, each with its first sentence."""
    return [
        {
            "summary": first_sentence(each),
            **asdict(each),
            "totals": [dict(zip(("section", "name", "bytes"), row, strict=True)) for row in each.totals],
            "allocations": [
                {**asdict(row), "padding": row.padding, "padded": "; ".join(map(str, row.padded))}
                for row in each.allocations
            ],
        }
        for each in messages
    ]


def first_sentence(message: OutOfMemory) -> str:
    """Returns the first sentence of a page: the program, the memory that it exceeds, and by how much."""
    program = message.module or "the program"
    memory = message.space or "the memory"
    if message.needed is None:
        return f"{program} does not fit into {memory}; the message states no sizes"
    size = format_bytes(message.needed)
    needs = f"its {message.what} take {size}" if message.what.endswith("s") else f"it needs {size}"
    if message.what in ("reserve", "allocate"):
        needs = f"the runtime asked for {size} more"
    if message.available is None:
        return f"{program} does not fit into {memory}: {needs}"
    has = f"{format_bytes(message.available)} {'are free' if message.what in ('reserve', 'allocate') else 'are there'}"
    over = message.needed - message.available if message.excess is None else message.excess
    more = f", {format_bytes(over)} too much" if over > 0 else ", with what the rest of the program holds too much"
    if message.piece is not None:
        more = f", {format_bytes(message.piece)} of them in one piece: the memory is fragmented"
    return f"{program} does not fit into {memory}: {needs}, and {has}{more}"


def _message(message: OutOfMemory) -> Iterator[str]:
    yield first_sentence(message)
    yield from _largest(message)
    yield from _table(message)
    section = None
    for heading, name, size in message.totals:
        if heading != section:
            section = heading
            yield f"\n{heading or 'sums'}"
        yield f"  {format_bytes(size):>9}  {name}"
    if message.unpadded_temporaries is not None:
        yield f"  {format_bytes(message.unpadded_temporaries):>9}  elements of the temporaries, without padding"
    yield ""


def _largest(message: OutOfMemory) -> Iterator[str]:
    """Yields a sentence about the allocation with the most padding, or about the largest one."""
    if not message.allocations:
        return
    padded = max(message.allocations, key=lambda each: each.padding)
    largest = max(message.allocations, key=lambda each: each.size)
    if padded.padding * 4 < largest.size:
        yield f"the largest allocation: {format_bytes(largest.size)}, {_named(largest)}"
        yield from (f"  {text}" for words, text in _REMEDIES if words in f"{largest.tag} {largest.label}")
        return
    share = f"{format_bytes(padded.padding)} of {format_bytes(padded.size)}"
    yield f"{share} are padding of one array: {_named(padded)}"
    for each in padded.padded:
        yield f"  {each}"


def _named(each: MessageAllocation) -> str:
    """Returns an allocation's array, its instruction, and the place in the program that it comes from."""
    name = " ".join(filter(None, (each.name, each.shape))) or each.kind
    tag = f" ({each.tag})" if each.tag else ""
    origin = origin_text(each)
    return f"{name}{tag}" + (f", from {origin}" if origin else "")


def _table(message: OutOfMemory) -> Iterator[str]:
    """Yields the allocations with the most bytes; those of one shape and origin are one row."""
    if len(message.allocations) < 2:
        return
    groups = grouped(
        message.allocations, lambda each: each.size, lambda each: (each.shape or each.label, each.tag, each.size)
    )
    total = sum(each.size for each in message.allocations)
    padding = sum(each.padding for each in message.allocations)
    count = f"{len(message.allocations)}, {format_bytes(total)}, of which {format_bytes(padding)} are padding"
    header = "size, padding, times, array, why, from"
    # The message may list the least of the allocations only.
    least = min((message.needed or 0) * LEAST_SHARE, groups[0].size)
    yield from ranked(f"allocations in the message: {count}", header, groups, _row, least).lines()


def _row(group: Group[MessageAllocation]) -> Sequence[str]:
    first = group.first
    return (
        format_bytes(sum(each.padding for each in group.rows)),
        f"{len(group.rows)}x",
        first.shape or first.label,
        "; ".join(map(str, first.padded)) or first.tag,
        origin_text(first),
    )


def _how_to_dump(is_tpu: bool) -> Iterator[str]:
    yield "set this in the environment, and the compiler writes its modules to dump/ although compilation fails:"
    yield f"  {_MODULES}"
    if is_tpu:
        yield "this as well makes libtpu write there where it placed each buffer (VMEM, SMEM):"
        yield f"  {_PLACES}"
    yield "then `relayout report dump` names the arrays that the peak holds, and the lines that they come from"
