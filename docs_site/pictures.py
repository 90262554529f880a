"""The pictures of the README and of the landing page: `python -m docs_site.pictures` draws them again.

The report is a screenshot, which needs Chromium on the path (or its path in CHROMIUM). The verdicts are drawn as SVG.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from xml.sax.saxutils import escape

import relayout
from docs_site.demo import swap_two_dimensions
from relayout.reporting.html import html_page

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs/pictures"
# The screenshots of the report, and their themes.
REPORTS = {"report.png": "light", "report_dark.png": "dark"}
VERDICTS = PICTURES / "verdicts.svg"
# The part of the report's page with totals and the timeline, in pixels.
_WIDTH, _HEIGHT = 1200, 950
# So few colours keep the files small.
_COLOURS = 64

# The drawing has a background of its own, so that it is legible on light and dark pages.
_BACKGROUND, _TEXT, _COMMAND = "#1d2128", "#e6e9ee", "#98a1b0"
_VERDICT_COLOURS = {": equal (": "#7fd1a3", ": different (": "#ff9b9b"}
_COLUMNS = 100
_CHARACTER, _LINE, _MARGIN = 8.7, 22, 18


def draw_report(browser: str, theme: str, file: Path) -> None:
    """Writes a screenshot of the report's page in a theme, `light` or `dark`, as PNG."""
    from PIL import Image

    page = html_page(relayout.memory_report(ROOT / "examples/forces_tpu.hlo"))
    with tempfile.TemporaryDirectory() as folder:
        source, picture = Path(folder, "page.html"), Path(folder, "page.png")
        source.write_text(page.replace("<html ", f'<html data-theme="{theme}" ', 1), encoding="utf-8")
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
        ]
        size = f"--window-size={_WIDTH},{_HEIGHT}"
        command = [browser, *flags, size, f"--screenshot={picture}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        with Image.open(picture) as image:
            image.convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE).save(file, optimize=True)


def verdict_lines() -> list[str]:
    """Returns the commands and the output of two checks: of a pass, and of its output with a planted mistake."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples/negate.hlo", folder)
        expanded = _printed("opt negate.hlo -p expand-tiling", folder)
        wrong = swap_two_dimensions("\n".join(expanded) + "\n", ".hlo")[0]
        Path(folder, "wrong.hlo").write_text(wrong, encoding="utf-8")
        commands = ("check negate.hlo -p expand-tiling", "check negate.hlo wrong.hlo")
        return [line for each in commands for line in (f"$ relayout {each}", *_printed(each, folder))]


def _printed(command: str, folder: str) -> list[str]:
    """Returns the lines that a command prints; a check that finds a difference ends with exit code 1."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-m", "relayout", *command.split()]
    done = subprocess.run(run, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()


def terminal_svg(lines: list[str]) -> str:
    """Returns lines as a terminal shows them, long ones wrapped: commands grey, verdicts green or red."""
    wrapped = [(line, part) for line in lines for part in textwrap.wrap(line, _COLUMNS, subsequent_indent="    ")]
    width, height = round(_COLUMNS * _CHARACTER) + 2 * _MARGIN, len(wrapped) * _LINE + 2 * _MARGIN
    texts = [
        f'<text x="{_MARGIN}" y="{_MARGIN + i * _LINE + 15}" fill="{_colour(line)}" xml:space="preserve">'
        f"{escape(part)}</text>"
        for i, (line, part) in enumerate(wrapped)
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14"'
    background = f'<rect width="{width}" height="{height}" rx="8" fill="{_BACKGROUND}"/>'
    return "\n".join([f"{head} {font}>", background, *texts, "</svg>", ""])


def _colour(line: str) -> str:
    if line.startswith("$"):
        return _COMMAND
    return next((colour for word, colour in _VERDICT_COLOURS.items() if word in line), _TEXT)


def main() -> None:
    """Draws every picture again."""
    VERDICTS.write_text(terminal_svg(verdict_lines()), encoding="utf-8")
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if browser is None:
        sys.exit("error: the screenshots need Chromium; install it, or name its path in CHROMIUM")
    for name, theme in REPORTS.items():
        draw_report(browser, theme, PICTURES / name)


if __name__ == "__main__":
    main()
