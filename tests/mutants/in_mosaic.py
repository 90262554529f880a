"""Mistakes in what is decoded of kernels."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "passes/dumps/mosaic/memory.py",
        'is_before = arrays.compare(code, "LT",',
        'is_before = arrays.compare(code, "LE",',
        ("tests/passes/dumps/mosaic/test_dumps.py",),
    ),
    Mutant(
        "dialect_utils/mosaic/decode.py",
        "fixed = len(kernel.grid) + kernel.scalar_prefetch + kernel.scratch",
        "fixed = len(kernel.grid) + kernel.scalar_prefetch",
        ("tests/mosaic/test_decode.py",),
    ),
    Mutant(
        "dialect_utils/mosaic/decode.py",
        'return text.partition("<")[2].removesuffix(">") or text',
        "return text",
        ("tests/mosaic/test_decode.py",),
    ),
    Mutant(
        "dialect_utils/mosaic/decode.py",
        "    if window.transform is not None and window.transform not in kernel.functions:",
        "    if False:",
        ("tests/mosaic/test_decode.py",),
    ),
    Mutant(
        "dialect_utils/mosaic/kernel.py",
        'reference.memory_space != "smem" and reference.dimensions',
        "reference.dimensions",
        ("tests/mosaic/test_decode.py",),
    ),
)
