"""Programs for GPUs, whose dumps each `make campaign-gpu` compiles, runs and compares; importing registers them."""

from tests.corpus.campaign_gpu import factorizations, products
from tests.corpus.campaign_gpu.registry import GPU_CAMPAIGN

__all__ = ["GPU_CAMPAIGN", "factorizations", "products"]
