"""The notebooks, executed in place (`python -m docs_site.notebooks [FILE ...]`) and converted to pages of the site."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Returns the cells of a notebook as nbformat stores them."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def text_of(value: str | list[str]) -> str:
    """Returns a multi-line string, which nbformat may store as a list of lines."""
    return value if isinstance(value, str) else "".join(value)


def as_markdown(path: Path) -> str:
    """Returns a notebook as a page: its text, its code, the printed output, and the pictures."""
    return "\n\n".join(part for cell in read_cells(path) for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = text_of(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield _output(output)


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    for kind in ("image/svg+xml", "text/html"):
        if kind in data:
            # Blank lines would end the HTML in Markdown.
            lines = (line for line in text_of(data[kind]).splitlines() if line.strip())
            return "<div markdown=0>\n" + "\n".join(lines) + "\n</div>"
    printed = text_of(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```text\n{printed}\n```"


def execute(path: Path) -> None:
    """Executes a notebook in the repository's root and stores its outputs; raises the error of a cell."""
    # Imported here: the site is built without nbclient.
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(ROOT)}}
    # A kernel may send what one cell prints in several parts.
    nbclient.NotebookClient(notebook, resources=resources, coalesce_streams=True).execute()
    for cell in notebook.cells:
        cell.metadata.clear()  # times of execution
    del notebook.metadata["language_info"]
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]) if sys.argv[1:] else NOTEBOOKS:
        execute(each)
