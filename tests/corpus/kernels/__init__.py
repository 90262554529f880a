"""Programs that hold Pallas kernels, to make dumps of: `make_mosaic_dumps` compiles and interprets them."""

from tests.corpus.kernels import arithmetic, library, memory, products, remote
from tests.corpus.kernels.registry import KERNELS, KernelProgram

__all__ = ["KERNELS", "KernelProgram", "arithmetic", "library", "memory", "products", "remote"]
