"""Mistakes in how protos are read."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/protos/wire.py",
        "value |= (byte & 0x7F) << (7 * count)",
        "value |= (byte & 0x7F) << (8 * count)",
        ("tests/protos/test_wire.py",),
    ),
    Mutant(
        "dialect_utils/protos/wire.py",
        "if size > len(data) - position:",
        "if size > len(data):",
        ("tests/protos/test_wire.py",),
    ),
    Mutant(
        "dialect_utils/protos/wire.py",
        "return value & _UINT64, position + count + 1",
        "return value, position + count + 1",
        ("tests/protos/test_wire.py",),
    ),
)
