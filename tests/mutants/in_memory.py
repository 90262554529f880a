"""Mistakes in what holds memory when."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "written_in_place",
        "(len(operation.operands) - 1) // 2",
        "0",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "allocation:_is_of_tpu",
        "tile.dimensions[-1] % _LANES == 0",
        "True",
        ("tests/layout/targets/test_described.py",),
    ),
    Mutant("_share_in_place", "reuse", "False", ("tests/memory/test_usage.py",), occurrence=3),
    Mutant(
        "_share_forwarded",
        "_share_update(leaves, operation)",
        "pass",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "MemoryUsage.peak_bytes",
        "constants if space else 0",
        "0",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "assign_buffers",
        "root in arguments or is_constant",
        "root in arguments",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "usage:_counted",
        "chain(_held(buffers), twice)",
        "_held(buffers)",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "memory:_total",
        "is_on_host(leaf) == on_host",
        "not on_host",
        ("tests/memory/test_usage.py",),
    ),
    Mutant(
        "trip_count",
        "-(-(bound - first) // step)",
        "(bound - first) // step",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "trip_counts",
        "outer * times",
        "times",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "memory.relayouts:_change",
        "(one.minor_to_major, one.tiles) == (other.minor_to_major, other.tiles)",
        "one == other",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "memory.relayouts:rank",
        "-size",
        "size",
        ("tests/memory/test_report.py",),
    ),
    Mutant(
        "assign_memory",
        "leaves.share([memory.root], [found.root])",
        "pass",
        ("tests/memory/test_gpu.py",),
    ),
    Mutant("assignment:_clusters", "end[time].remove(over)", "pass", ("tests/memory/test_gpu.py",)),
    Mutant("assignment:_packed", "begin - free, free", "begin + free, free", ("tests/memory/test_gpu.py",)),
    Mutant("may_overwrite", "number == 2", "number != 2", ("tests/memory/test_gpu.py",)),
    Mutant("assignment:_in_step", 'user.opcode != "copy"', "True", ("tests/memory/test_gpu.py",)),
    Mutant(
        "guess_compiler", 'module.attributes.get("frontend_attributes", "")', '""', ("tests/memory/test_padding.py",)
    ),
)
