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
from relayout.reporting.first_screen import FirstScreen
from relayout.reporting.html import html_page
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
    column = [header.text.split(" ")[0] for header in headers(page)].index("allocated")
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
    shapes = cells(page, 4)
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
            canvas, -size["width"] // 2 + 90, size["height"] // 2 - 30
        ).perform()
        tooltip = page.find_element("id", "tooltip")
        assert tooltip.is_displayed()
        assert "allocated" in tooltip.text
        ActionChains(page).click().perform()
        assert page.find_element("id", "details").is_displayed()
        assert "memory" in page.find_element("id", "details").text
        page.find_element("css selector", "#details .close").click()
        assert not page.find_element("id", "details").is_displayed()


def test_every_table_opens(page: Any) -> None:
    for name in ("op_names", "relayouts", "collectives", "bitcasts", "costs", "advice", "buffers"):
        page.find_element("css selector", f'[data-view="{name}"]').click()
        count = int(page.find_element("id", "count").text.split(" of ")[1])
        assert bool(cells(page, 0)) == (count > 0), name
        # A table without rows says why.
        assert bool(page.find_element("css selector", ".empty").text) == (count == 0), name


# Returns the least contrast of a text with its background, by WCAG's formula, and the text.
CONTRAST = """
const colour = (text) => { const m = text.match(/[\\d.]+/g).map(Number); return [m[0], m[1], m[2], m[3] ?? 1]; };
const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => { const v = c[i] / 255;
  return sum + weight * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
const ground = (e) => { let c = [255, 255, 255]; const chain = [];
  for (let n = e; n; n = n.parentElement) chain.unshift(colour(getComputedStyle(n).backgroundColor));
  return chain.reduce((below, each) => over(each, below), c); };
let least = [99, ""];
for (const e of document.querySelectorAll("body *")) {
  const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
  if (!text || ["SCRIPT", "OPTION", "title"].includes(e.tagName) || !e.getClientRects().length) continue;
  const isDrawn = e.namespaceURI.includes("svg"), s = getComputedStyle(e);
  const below = isDrawn ? [255, 255, 255] : ground(e), [a, b] = [light(over(colour(isDrawn ? s.fill : s.color), below)),
    light(below)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < least[0]) least = [ratio, text];
}
return least;
"""


def at_width(page: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture
def whole_window(page: Any) -> Iterator[None]:
    yield
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.execute_script("hideDetails(); setZoom(0, data.length); showView('buffers')")


@pytest.mark.usefixtures("whole_window")
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_draw_with_contrast(page: Any, theme: str, width: int) -> None:
    at_width(page, width)
    page.execute_script(f"document.documentElement.dataset.theme = '{theme}'; byId('how').open = true; redraw();")
    page.find_element("css selector", "tr[data-row]").click()
    ratio, text = page.execute_script(CONTRAST)
    assert ratio >= 4.5, text
    ground, ink = page.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color].map("
        "c => c.match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3)"
    )
    assert (ground > ink) == (theme == "light")
    drawn = page.execute_script(
        "const c = document.querySelector('#timeline canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, "
        "c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (d.length / 4)"
    )
    assert drawn > 0.05
    if SCREENSHOTS:
        page.execute_script("window.scrollTo(0, 0)")
        page.save_screenshot(str(Path(SCREENSHOTS) / f"report_{theme}_{width}.png"))


@pytest.mark.usefixtures("whole_window")
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window_and_the_details_cover_nothing(page: Any, width: int) -> None:
    at_width(page, width)
    page.execute_script("redraw()")
    page.find_element("css selector", "tr[data-row]").click()
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    covered = page.execute_script(
        "const box = byId('details').getBoundingClientRect(); return [...document.querySelectorAll("
        "'.card, canvas, .window, #tabs button')].filter((e) => { const r = e.getBoundingClientRect(); return r.left < "
        "box.right && box.left < r.right && r.top < box.bottom && box.top < r.bottom; }).length"
    )
    assert covered == 0
    inside = page.execute_script("return byId('table').querySelector('table').scrollWidth <= box.clientWidth")
    assert inside


def test_the_answer_and_the_advice_are_on_top(page: Any) -> None:
    text = page.find_element("id", "answer").text
    report = MemoryReport(compiled_programs()["residual_net_training"].module())
    assert text.startswith(report.fit)
    assert report.headline in text
    for each in FirstScreen(report).waste:
        assert all(part in text for part in (each.title, each.line, each.why, each.change))
    assert "How to read this page" in text


@pytest.mark.usefixtures("whole_window")
def test_dragging_zooms_and_a_double_click_shows_everything(page: Any) -> None:
    from selenium.webdriver import ActionChains

    canvas = page.find_element("css selector", "#timeline canvas")
    length = page.execute_script("return data.length")
    ActionChains(page).scroll_to_element(canvas).perform()
    ActionChains(page).move_to_element(canvas).click_and_hold().move_by_offset(200, 0).release().perform()
    begin, end = page.execute_script("return [zoom.from, zoom.to]")
    assert 0 < begin < end < length
    # Half of the window's width is about half of the schedule.
    assert begin == pytest.approx(length / 2, rel=0.15)
    assert page.find_element("id", "whole").is_displayed()
    ActionChains(page).double_click(canvas).perform()
    assert page.execute_script("return [zoom.from, zoom.to]") == [0, length]


@pytest.mark.usefixtures("whole_window")
def test_the_page_is_worked_with_keys(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    canvas = page.find_element("css selector", "#timeline canvas")
    canvas.send_keys("+")
    assert page.execute_script("return zoom.to - zoom.from < data.length")
    canvas.send_keys("0")
    assert page.execute_script("return zoom.to - zoom.from === data.length")
    page.find_element("css selector", 'tr[data-row="0"]').send_keys(Keys.ARROW_DOWN)
    focused = page.switch_to.active_element
    assert focused.get_attribute("data-row") == "1"
    focused.send_keys(Keys.ENTER)
    assert page.find_element("id", "details").is_displayed()
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not page.find_element("id", "details").is_displayed()
    page.find_element("css selector", '[data-view="buffers"]').send_keys(Keys.ARROW_RIGHT)
    assert page.switch_to.active_element.get_attribute("data-view") == "relayouts"
    heading = page.find_element("css selector", "th .sort")
    heading.send_keys(Keys.ENTER)
    assert page.find_element("css selector", "th").get_attribute("aria-sort") != "none"


def test_an_address_opens_its_buffer(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, html_page(MemoryReport(parse_module(chain(300)))), tmp_path)
    page.get(f"{(tmp_path / 'report.html').as_uri()}#x250")
    page.refresh()
    assert page.find_element("css selector", "#details h3").text == "x250"
    # The row is in view, although the table draws a part of its rows only.
    assert page.find_element("css selector", "tr.selected td").text == "x250"
    page.execute_script("location.hash = 'x7'")
    page.execute_script("openAddress()")
    assert page.find_element("css selector", "#details h3").text == "x7"


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
    # Halves, sizes that round up to the next number of digits, and whole ones.
    sizes = [1000.5, 999.5, 101.5, 100.4, 1023.5, 99.96, 99.94, 9.996, 1.125, 2.375, 12.25, 12.75, 1, 3.5]
    drawn = [page.execute_script("return bytes(arguments[0])", int(size * 2**20)) for size in sizes]
    assert drawn == [format_bytes(int(size * 2**20)) for size in sizes]
