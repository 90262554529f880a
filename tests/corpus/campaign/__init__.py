"""Programs whose dumps are compiled, run and compared by each `make campaign-dumps`; importing registers them."""

from tests.corpus.campaign import assorted, linear_algebra, offload, overlapped, scatters, sharded
from tests.corpus.campaign.registry import CAMPAIGN

__all__ = ["CAMPAIGN", "assorted", "linear_algebra", "offload", "overlapped", "scatters", "sharded"]
