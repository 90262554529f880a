"""How the campaign's programs are registered: in a table of their own, since their dumps are made anew each time."""

from functools import partial

from tests.corpus.programs.registry import Program, program

CAMPAIGN: dict[str, Program] = {}
campaign = partial(program, table=CAMPAIGN)
