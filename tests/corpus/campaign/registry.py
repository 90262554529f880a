"""The table of the campaign's programs, apart from the corpus: each campaign compiles their dumps again."""

from functools import partial

from tests.corpus.programs.registry import Program, program

CAMPAIGN: dict[str, Program] = {}
campaign = partial(program, table=CAMPAIGN)
