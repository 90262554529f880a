"""Mistakes in what is decoded of kernels."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "RunningRef.write",
        '"LT"',
        '"LE"',
        ("tests/passes/dumps/mosaic/test_dumps.py",),
    ),
    Mutant(
        "mosaic:_check",
        "len(kernel.grid) + kernel.scalar_prefetch + kernel.scratch",
        "len(kernel.grid) + kernel.scalar_prefetch",
        ("tests/mosaic/test_decode.py",),
    ),
    Mutant(
        "_enumerator",
        'text.partition("<")[2].removesuffix(">") or text',
        "text",
        ("tests/mosaic/test_decode.py",),
    ),
    Mutant(
        "mosaic:_check",
        "window.transform is not None and window.transform not in kernel.functions",
        "False",
        ("tests/mosaic/test_decode.py",),
    ),
    Mutant(
        "block_shape",
        'reference.memory_space != "smem" and reference.dimensions',
        "reference.dimensions",
        ("tests/mosaic/test_decode.py",),
    ),
)
