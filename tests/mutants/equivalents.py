"""Changed lines that no test can notice, with the reason; found by their text, in whatever file."""

from __future__ import annotations

# The line, the changed line, and why both compute the same.
EQUIVALENTS: tuple[tuple[str, str, str], ...] = (
    (
        '[sys.executable, "-P", "-m", _MODULE, str(self.memory), str(self.devices)],',
        '[sys.executable, "-Px", "-m", _MODULE, str(self.memory), str(self.devices)],',
        "-x skips the first line of a script, and no script is given",
    ),
    ("UNBOUNDED = -1", "UNBOUNDED = -2", "the value is used by its name only, and no size is negative"),
    ("_MAX_NESTING = 500", "_MAX_NESTING = 499", "the limit is far below Python's and far above that of programs"),
    (
        "digest = hashlib.sha256(described.encode()).hexdigest()[:8]",
        "digest = hashlib.sha256(described.encode()).hexdigest()[:7]",
        "the digest only has to differ",
    ),
    (
        "if (each - number) * step <= 0:",
        "if (each - number) * step < 0:",
        "the edge that made the change makes none if it is visited again",
    ),
    (
        "if place.position < 0:",
        "if not (place.position < 0):",
        "both numbers are between the neighbours': only the room for later insertions differs",
    ),
    (
        "if len(fitting) > 1:",
        "if len(fitting) >= 1:",
        "a plan that fits one array only is tried twice, the second time without a gain",
    ),
)
