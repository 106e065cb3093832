#!/usr/bin/env python3
"""page.py PROGRAM: the report page, opened in a real browser without a screen.

Nothing may fail to load and every plot must be seen, on a wide window and on a phone's, light and
dark; the tables must be those of the Markdown. Skipped (77) without Matplotlib, Selenium or Chromium.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SYSTEM = "/usr/bin/python3"
MODULES = "import matplotlib, selenium"
LIMIT = 1200  # seconds


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


try:
    exec(MODULES)  # pylint: disable=exec-used
except ImportError:
    found = subprocess.run([SYSTEM, "-c", MODULES], stderr=subprocess.DEVNULL, check=False)
    if found.returncode != 0 or os.path.samefile(SYSTEM, sys.executable):
        skip("python3-matplotlib or python3-selenium is not installed")
    os.execv(SYSTEM, [SYSTEM, *sys.argv])
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    skip("chromium or chromium-driver is not installed")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

SEEN = """
const plots = [...document.querySelectorAll('figure svg')].map(svg => {
    const box = svg.getBoundingClientRect();
    return {width: box.width, height: box.height,
            marks: svg.querySelectorAll('path, rect').length,
            words: svg.querySelectorAll('text').length,
            ink: getComputedStyle(svg).color};
});
const links = [...document.querySelectorAll('a')].filter(
    a => a.getAttribute('href').startsWith('#') && !document.querySelector(a.getAttribute('href')));
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
const tables = [...document.querySelectorAll('table')].map(table => [...table.rows].map(
    row => [...row.cells].map(cell => cell.textContent.trim())));
const small = [...document.querySelectorAll('figure svg text')].filter(
    text => text.getBoundingClientRect().height < 5).length;
const wide = [...document.querySelectorAll('.wide')].filter(
    e => e.scrollWidth > e.clientWidth).map(e => e.textContent.slice(0, 60));
return {wide: wide, tables: tables, small: small, plots: plots, broken: links.length, resources: performance.getEntriesByType('resource').map(e => e.name),
        paper: getComputedStyle(document.documentElement).backgroundColor,
        scroll: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        fetched: document.querySelectorAll('script, link, img, iframe').length,
        uses: [...document.querySelectorAll('use')].filter(
            u => !ids.includes((u.getAttribute('xlink:href') || u.getAttribute('href') || '')
                               .slice(1))).length};
"""


def check(browser, url, width, dark):
    """Look at the page; returns its tables."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.get(url)
    WebDriverWait(browser, LIMIT).until(  # a busy machine may be asked before all is there
        lambda page: page.execute_script("return document.readyState") == "complete")
    seen = browser.execute_script(SEEN)
    assert len(seen["plots"]) == PLOTS, (len(seen["plots"]), PLOTS)
    for plot in seen["plots"]:
        assert plot["width"] > 150 and plot["height"] > 40, plot
        assert plot["width"] <= width, plot
        assert plot["marks"] > 5 and plot["words"] > 3, plot
        assert plot["ink"] == ("rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)"), plot
    assert seen["broken"] == 0 and seen["fetched"] == 0 and seen["resources"] == [], seen
    assert seen["uses"] == 0 and seen["small"] == 0, (seen["uses"], seen["small"])
    assert seen["scroll"] <= 0, f"the page itself scrolls sideways at {width}: {seen['scroll']}"
    assert width < 1200 or seen["wide"] == [], f"wider than the page: {seen['wide']}"
    for line in browser.get_log("browser"):
        raise AssertionError(f"the browser complains: {line['message']}")
    return seen["tables"]


def markdown_tables(text):
    tables, last = [], ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not last.startswith("|"):
                tables.append([])
            if not line.startswith("|---"):
                tables[-1].append([re.sub(r"\\(.)", r"\1", cell).strip()  # names of kernels have stars
                                   for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        last = line
    return tables


RESULTS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results" / "lab-h200"


def sizes_and_rungs(name):
    cases = json.loads((RESULTS / name).read_text())["cases"]
    return {case["n"] for case in cases}, {case["rung"] for case in cases}


# What the two small runs, a time distribution against n, and a ladder with its authors' figures
# show: 3 (two sizes, rate), 1, one for each device and the rate, and for each size one of ours and
# one of the authors' beside a rate.
SIZES, _ = sizes_and_rungs("entropy-gpu.json")
_, DEVICES = sizes_and_rungs("apsp-files.json")
PLOTS = 3 + 1 + (len(DEVICES) + 1) + (2 * len(SIZES) + 1)


def make_page(folder):
    for words in (["run", "apsp-cpu", "--n", "64,100", "--rungs", "naive,min,engine-i32"],
                  ["run", "map-cpu", "--n", "64", "--rungs", "branch,engine"]):
        subprocess.run([PROGRAM, *words, "--repeat", "2", "--out", str(folder)], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run([PROGRAM, "report", str(folder), str(RESULTS / "apsp-files.json"),
                    str(RESULTS / "entropy-gpu.json"), "--out", str(folder / "page"),
                    "--plots", str(folder / "plots")], check=True, stdout=subprocess.DEVNULL)
    files = sorted((folder / "plots").iterdir())
    assert len(files) == PLOTS, files
    for file in files:
        assert "currentColor" in file.read_text() and 'fill="#ffffff"' in file.read_text(), file
    text = (folder / "page" / "report.md").read_text()
    assert "Published figures: on one V100" in text
    for part in ("read", "upload", "compute", "download", "write"):
        assert f"| {part} |" in text, part
    return markdown_tables(text)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = make_page(folder)
        # Contents, three ladders of one table, and for each size one of the authors' rungs and one of
        # ours; the insides of those with parts; the counters of one size, in two tables.
        assert len(expected) == 1 + 3 + 2 * len(SIZES) + 1 + len(SIZES) + 2, len(expected)
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        try:
            url = (folder / "page" / "report.html").resolve().as_uri()
            for width in (1200, 390):
                for dark in (False, True):
                    tables = check(browser, url, width, dark)
                    assert tables == expected, "page and Markdown have other tables"
        finally:
            browser.quit()
    print("the page shows every plot, wide and narrow, light and dark")


main()
