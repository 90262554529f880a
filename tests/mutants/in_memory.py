"""Mistakes in what holds memory when."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/memory/sharing.py",
        "count = (len(operation.operands) - 1) // 2",
        "count = 0",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/sharing.py",
        "    if reuse:\n",
        "    if False:\n",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/sharing.py",
        "        _share_update(leaves, operation)\n",
        "        pass\n",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/usage.py",
        "constants if space else 0",
        "0",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/buffers.py",
        "if root in arguments or is_constant:",
        "if root in arguments:",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/usage.py",
        "chain(_held(buffers), twice)",
        "_held(buffers)",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/usage.py",
        "if _is_on_host(leaf) == on_host)",
        "if not on_host)",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "dialect_utils/memory/trips.py",
        "return max(0, -(-(bound - first) // step))",
        "return max(0, (bound - first) // step)",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "dialect_utils/memory/trips.py",
        "counts[called] = outer * times if",
        "counts[called] = times if",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "dialect_utils/memory/relayouts.py",
        "if (one.minor_to_major, one.tiles) != (other.minor_to_major, other.tiles):",
        "if one != other:",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "dialect_utils/memory/relayouts.py",
        "key=lambda each: -each.total_bytes",
        "key=lambda each: each.total_bytes",
        ("tests/memory/test_report.py",),
    ),
)
