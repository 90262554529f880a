"""Programs for GPUs, whose dumps each `make campaign-gpu` compiles, runs and compares; importing registers them."""

from tests.corpus.campaign_gpu import convolutions, factorizations, networks, orders, parallel, products
from tests.corpus.campaign_gpu.registry import GPU_CAMPAIGN

__all__ = ["GPU_CAMPAIGN", "convolutions", "factorizations", "networks", "orders", "parallel", "products"]
