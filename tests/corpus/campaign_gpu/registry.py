"""The table of the programs for GPUs; each campaign compiles their dumps again."""

from functools import partial

from tests.corpus.programs.registry import Program, program

GPU_CAMPAIGN: dict[str, Program] = {}
on_gpu = partial(program, table=GPU_CAMPAIGN)
