"""HLO texts for the tests: the corpus in the tree, and the shared dumps where they are at hand."""

from __future__ import annotations

from pathlib import Path

from tests.paths import OWN_CORPUS, ROOT, SHARED_DATA

IN_TREE = sorted((OWN_CORPUS).glob("**/*.hlo")) + sorted((ROOT / "examples").glob("*.hlo"))
SHARED = SHARED_DATA / "corpus"

# Texts of the corpus that the parser rejects: the command line splits a file of several modules,
# and a tile that ends in `*` has no meaning.
REJECTED = ("by_hand_several_modules.hlo", "by_hand_layouts.hlo")

MODULE = """HloModule m, entry_computation_layout={(f32[3,5]{0,1}, f32[])->f32[3,5]{1,0}}

%plus (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (x: f32[3,5], y: f32[]) -> f32[3,5] {
  %x = f32[3,5]{1,0} parameter(0) // the first
  %y = f32[] parameter(1)
  %z = f32[3,5]{1,0} add(%x, %x), frontend_attributes={q="1"}, metadata={op_name="a/b"} /* zed */
  %r = f32[5]{0} reduce(%z, %y), dimensions={0}, to_apply=%plus
  ROOT %w = f32[3,5]{1,0} negate(%z), control-predecessors={%r}
}
"""


def shared_dumps() -> list[Path]:
    """Returns the dumps of TPU compilers beside the repository."""
    return sorted(SHARED.glob("tpu*/**/*.hlo"))


def read(path: Path) -> str:
    """Returns a file's text with its line ends as they are."""
    with path.open(newline="") as file:
        return file.read()
