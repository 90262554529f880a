"""A picture of a program's memory over time, for notebooks."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise

from dialect_utils.memory.usage import MemoryUsage
from dialect_utils.text import format_bytes
from dialect_utils.text.html import html_text

_WIDTH, _HEIGHT, _TITLE, _MARGIN = 600, 120, 22, 8


def timeline_svg(usage: MemoryUsage) -> str:
    """Returns the bytes that main memory holds at each time, as SVG; a line marks the peak."""
    levels = memory_levels(usage)
    most = max(1, *levels)
    columns = min(_WIDTH, len(levels))
    bounds = [len(levels) * column // columns for column in range(columns + 1)]
    # Several times share a column where the schedule is long: the column shows their maximum.
    heights = [_HEIGHT * max(levels[a:b]) // most for a, b in pairwise(bounds)]
    width = _WIDTH / columns
    corners = [f"{x * width:.1f},{_TITLE + _HEIGHT - high}" for i, high in enumerate(heights) for x in (i, i + 1)]
    bottom = _TITLE + _HEIGHT
    peak = (usage.peak_time + 0.5) * _WIDTH / len(levels)
    title = f"main memory over time: at most {format_bytes(usage.main_memory_peak_bytes)}, at {usage.peak_time}"
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + _MARGIN}" '
            f'viewBox="0 0 {_WIDTH} {bottom + _MARGIN}" font-family="monospace" font-size="13">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<text x="4" y="15">{html_text(title)} of {len(levels)}</text>',
            f'<polygon points="0,{bottom} {" ".join(corners)} {_WIDTH},{bottom}" fill="#BBCCEE" stroke="#222"/>',
            f'<line x1="{peak:.1f}" y1="{_TITLE}" x2="{peak:.1f}" y2="{bottom}" stroke="#AA0000"/>',
            "</svg>",
        ]
    )


def memory_levels(usage: MemoryUsage) -> list[int]:
    """Returns the bytes that main memory holds at each time of the schedule, arguments and outputs included."""
    change: Counter[int] = Counter()
    for buffer in usage.buffers:
        if buffer.is_temporary and buffer.memory_space == 0:
            for start, end in buffer.spans:
                change[start] += buffer.bytes_held
                change[end + 1] -= buffer.bytes_held
    length = max(1, usage.schedule.length)
    base = usage.main_memory_peak_bytes - usage.temporary_bytes
    return [base + held for held in accumulate(change[time] for time in range(length))]
