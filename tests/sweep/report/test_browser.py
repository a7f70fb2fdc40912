"""The page in a real browser: selectors, sorting, errors, requests, hostile text, a phone."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sweep.report.__main__ import main
from tests.report_data import GRID, sweep

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium")
DRIVER = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(
        not (BROWSER and DRIVER), reason="needs chromium and chromedriver (Debian: chromium-driver)"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report of a run whose command line is hostile."""
    place = tmp_path_factory.mktemp("browser")
    run = sweep(place / "run", *GRID)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"command": HOSTILE}))
    assert main([str(run), "--out", str(place / "report")]) == 0
    return place / "report"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    started.set_window_size(1200, 900)
    yield started
    started.quit()


@pytest.fixture
def page(driver: Any, report: Path) -> Iterator[Any]:
    """Yield the driver with the page open and all figures drawn; then look for errors."""
    driver.get((report / "index.html").as_uri())
    driver.execute_script("drawn.forEach(drawOnce)")
    yield driver
    assert driver.get_log("browser") == []


def drawn_bars(page: Any, figure: str) -> list[float]:
    script = (
        "const plot = document.querySelector(`#${arguments[0]} .plot`);"
        "return plot.data.filter(t => t.type === 'bar').flatMap(t => [...t.x]);"
    )
    return sorted(page.execute_script(script, figure))


def choose(page: Any, figure: str, label: str, text: str) -> None:
    from selenium.webdriver.support.ui import Select

    place = page.find_element("css selector", f"#{figure} select[aria-label='{label}']")
    Select(place).select_by_visible_text(text)


def test_a_selector_changes_what_is_drawn(page: Any, report: Path) -> None:
    csv = pd.read_csv(report / "average_cct.csv")
    for engine in ("coflowsim", "fluid"):
        choose(page, "average_cct", "engine", engine)
        shown = csv[csv["engine"] == engine]
        assert drawn_bars(page, "average_cct") == sorted(shown["mean_cct_s"])
    choose(page, "average_cct", "x axis", "largest CCT [s]")
    assert drawn_bars(page, "average_cct") == sorted(shown["max_cct_s"])


def heat(page: Any, figure: str) -> dict[tuple[str, str], float]:
    trace = page.execute_script(
        "const t = document.querySelector(`#${arguments[0]} .plot`).data[0];"
        "return [[...t.x], [...t.y], t.z.map(r => [...r])];",
        figure,
    )
    x, y, z = trace
    return {(x[c], y[r]): z[r][c] for r in range(len(y)) for c in range(len(x))}


def test_the_heat_map_agrees_with_the_csv_and_can_be_turned(page: Any, report: Path) -> None:
    csv = pd.read_csv(report / "heat.csv")
    x, y = csv.columns[:2]
    wanted = {(f"{a:g}" if x[0] == "q" else str(a), f"{b:g}" if y[0] == "q" else str(b)): v
              for a, b, v in csv[[x, y, "mean_cct_s"]].itertuples(index=False)}  # fmt: skip
    found = heat(page, "heat")
    assert found.keys() == wanted.keys()
    assert all(found[k] == pytest.approx(wanted[k], rel=1e-6) for k in wanted)
    titles = {"queue_first_threshold_mb": "queue.first_threshold_mb"}
    choose(page, "heat", "x axis", titles.get(y, y))  # the axes change places
    assert heat(page, "heat") == {(b, a): v for (a, b), v in found.items()}
    choose(page, "heat", "scheduler", "mean over all")
    assert heat(page, "heat") != {(b, a): v for (a, b), v in found.items()}


def test_the_map_of_winners_agrees_with_the_csv(page: Any, report: Path) -> None:
    csv = pd.read_csv(report / "wins.csv")
    texts = page.execute_script("return document.querySelector('#wins .plot').data[0].text.flat();")
    assert sorted(texts) == sorted(csv["text"].fillna(""))


def test_a_table_is_sorted_by_a_click(page: Any, report: Path) -> None:
    def column(name: str) -> list[str]:
        rows = page.find_elements("css selector", "#table-settings tbody tr")
        heads = [h.text.split(" ▲")[0].split(" ▼")[0] for h in
                 page.find_elements("css selector", "#table-settings th")]  # fmt: skip
        return [r.find_elements("tag name", "td")[heads.index(name)].text for r in rows]

    wanted = sorted(pd.read_csv(report / "settings.csv")["mean_cct_s"])
    button = page.find_element(
        "xpath", "//table[@id='table-settings']//button[text()='mean CCT [s]']"
    )
    button.click()
    assert [float(v) for v in column("mean CCT [s]")] == wanted
    button.click()
    assert [float(v) for v in column("mean CCT [s]")] == wanted[::-1]


def test_text_from_files_stays_text(page: Any) -> None:
    assert page.execute_script("return window.hacked") is None
    assert HOSTILE in page.find_element("id", "summary").text
    script = (
        "const p = document.createElement('p');"
        "p.innerHTML = plain(arguments[0]);"
        "return p.textContent"
    )
    assert page.execute_script(script, "<b>a</b> & b") == "<b>a</b> & b"


def test_no_request_leaves_the_page(page: Any) -> None:
    page.get_log("performance")  # of the browser's start
    page.refresh()
    page.execute_script("drawn.forEach(drawOnce)")
    sent = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = {
        m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"
    }
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "blob"}
    assert len([url for url in asked if url.startswith("file")]) == 1


def test_light_and_dark(page: Any) -> None:
    def background() -> str:
        return str(page.execute_script("return getComputedStyle(document.body).backgroundColor"))

    before = background()
    page.find_element("id", "theme").click()
    assert background() != before
    paper = page.execute_script(
        "return document.querySelector('#average_cct .plot').layout.paper_bgcolor"
    )
    card = page.execute_script("return theme().card")
    assert paper == card


def test_nothing_is_wider_than_a_phone(page: Any) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.refresh()
    page.execute_script("drawn.forEach(drawOnce)")
    assert page.execute_script("return document.documentElement.scrollWidth") <= 390
    script = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(t => [t, t.getBoundingClientRect()])"
        ".map(([t, r]) => [t.textContent, r.left, r.right, r.top, r.bottom]);"
    )
    texts = page.execute_script(script, ".xtitle, .ytitle, .legendtext, .ytick text, .cbtitle")
    assert len(texts) > 50
    assert [t for t in texts if t[1] < 0 or t[2] > 390] == []
    rows = sorted(t[3:] for t in page.execute_script(script, "#average_cct .ytick text"))
    assert len(rows) == 7
    assert all(one[1] <= other[0] + 1 for one, other in pairwise(rows))  # names do not overlap
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
