"""The HTML report in a browser: it draws, sorts, filters, hovers and opens details, in light and dark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.memory import MemoryReport
from dialect_utils.text.diagnostics import format_bytes
from relayout.report.html import html_page
from tests.memory.compiled import compiled_programs

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="Chromium and its driver are not installed")
# The folder of screenshots, for a person to look at.
SCREENSHOTS = os.environ.get("RELAYOUT_SCREENSHOTS")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync "
    "--disable-component-update --disable-quic --window-size=1400,1500"
)


def chain(count: int) -> str:
    """Returns a scheduled module of many instructions with metadata."""
    shape = "f32[{n},{m}]{{1,0:T(8,128)}}"
    lines = ["  x0 = f32[64,100]{1,0:T(8,128)} parameter(0)"]
    for i in range(1, count):
        name = f'metadata={{op_name="jit(f)/step{i % 97}/mul" source_file="f.py" source_line={i % 300}}}'
        kind = shape.format(n=64, m=100)
        lines.append(f"  x{i} = {kind} multiply(x{i - 1}, x{max(0, i - 40)}), {name}")
    lines.append(f"  ROOT r = f32[64,100]{{1,0:T(8,128)}} negate(x{count - 1})")
    return "HloModule chain, is_scheduled=true\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    assert CHROMIUM is not None
    options.binary_location = CHROMIUM
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    module = compiled_programs()["residual_net_training"].module()
    return opened(browser, html_page(MemoryReport(module)), tmp_path_factory.mktemp("page"))


def opened(browser: Any, text: str, folder: Path) -> Any:
    file = folder / "report.html"
    file.write_text(text, "utf-8")
    browser.get(file.as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    return browser


def cells(page: Any, column: int) -> list[str]:
    rows = page.find_elements("css selector", "tr[data-row]")
    return [row.find_elements("css selector", "td")[column].get_attribute("title") for row in rows]


def headers(page: Any) -> list[Any]:
    found: list[Any] = page.find_elements("css selector", "th")
    return found


def test_a_column_sorts_both_ways(page: Any) -> None:
    column = [header.text.split(" ")[0] for header in headers(page)].index("held")
    headers(page)[column].click()
    first = [int(text.split()[0]) for text in cells(page, column)]
    headers(page)[column].click()
    second = [int(text.split()[0]) for text in cells(page, column)]
    assert len(first) > 10
    assert first == sorted(first, reverse=True)
    assert second == sorted(second)
    assert first[0] > second[0]


def test_words_filter_the_rows(page: Any) -> None:
    box = page.find_element("css selector", ".filter")
    before = page.find_element("id", "count").text
    box.send_keys("argument f32[3,3,128,128]")
    assert page.find_element("id", "count").text != before
    shapes = cells(page, 7)
    assert shapes
    assert all(shape.startswith("f32[3,3,128,128]") for shape in shapes)
    box.clear()
    box.send_keys(" ")


def test_the_timeline_and_the_treemap_name_the_buffer_under_the_mouse(page: Any) -> None:
    from selenium.webdriver import ActionChains

    for canvas in page.find_elements("css selector", "canvas")[:1] + page.find_elements(
        "css selector", "#treemap canvas"
    ):
        ActionChains(page).scroll_to_element(canvas).perform()
        size = canvas.size
        # Below and to the left of the middle is the largest buffer, an argument.
        ActionChains(page).move_to_element_with_offset(
            canvas, -size["width"] // 2 + 40, size["height"] // 2 - 6
        ).perform()
        tooltip = page.find_element("id", "tooltip")
        assert tooltip.is_displayed()
        assert "held" in tooltip.text
        ActionChains(page).click().perform()
        assert page.find_element("id", "details").is_displayed()
        assert "memory" in page.find_element("id", "details").text
        page.find_element("css selector", "#details .close").click()
        assert not page.find_element("id", "details").is_displayed()


def test_every_table_opens(page: Any) -> None:
    for name in ("op_names", "relayouts", "bitcasts", "advice", "buffers"):
        page.find_element("css selector", f'[data-view="{name}"]').click()
        count = int(page.find_element("id", "count").text.split(" of ")[1])
        assert bool(cells(page, 0)) == (count > 0), name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_draw_with_contrast(page: Any, theme: str) -> None:
    page.execute_script(f"document.documentElement.dataset.theme = '{theme}'; draw();")
    ground, ink = page.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color].map("
        "c => c.match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3)"
    )
    assert abs(ground - ink) > 120
    assert (ground > ink) == (theme == "light")
    drawn = page.execute_script(
        "const c = document.querySelector('#timeline canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, "
        "c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (d.length / 4)"
    )
    assert drawn > 0.05
    if SCREENSHOTS:
        page.execute_script("window.scrollTo(0, 0)")
        page.save_screenshot(str(Path(SCREENSHOTS) / f"report_{theme}.png"))


@pytest.mark.parametrize("count", [1_000, 20_000])
def test_large_reports_stay_small_and_open_fast(browser: Any, tmp_path: Path, count: int) -> None:
    text = html_page(MemoryReport(parse_module(chain(count), "chain.hlo")))
    assert len(text.encode()) < 10_000_000
    page = opened(browser, text, tmp_path)
    assert len(cells(page, 0)) > 10
    busy = page.execute_script("return performance.timing.loadEventEnd - performance.timing.navigationStart")
    print(f"{count} instructions: {len(text.encode())} bytes, open after {busy} ms")
    if SCREENSHOTS:
        page.save_screenshot(str(Path(SCREENSHOTS) / f"report_{count}.png"))


def test_sizes_are_rounded_as_the_terminal_rounds_them(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, html_page(MemoryReport(parse_module(chain(3)))), tmp_path)
    sizes = [1000.5, 999.5, 101.5, 100.4, 1023.5]
    drawn = [page.execute_script("return bytes(arguments[0])", int(size * 2**20)) for size in sizes]
    assert drawn == [format_bytes(int(size * 2**20)) for size in sizes]
