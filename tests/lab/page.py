#!/usr/bin/env python3
"""page.py PROGRAM: the report page, opened in a real browser without a screen.

Nothing may fail to load and every plot must be seen, on a wide and on a narrow window, light and
dark. Skipped (77) without Matplotlib, Selenium or Chromium.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SYSTEM = "/usr/bin/python3"
MODULES = "import matplotlib, selenium"


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
return {plots: plots, broken: links.length, tables: document.querySelectorAll('tbody tr').length,
        resources: performance.getEntriesByType('resource').map(e => e.name),
        paper: getComputedStyle(document.documentElement).backgroundColor,
        scroll: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        fetched: document.querySelectorAll('script, link, img, iframe').length,
        uses: [...document.querySelectorAll('use')].filter(
            u => !ids.includes((u.getAttribute('xlink:href') || u.getAttribute('href') || '')
                               .slice(1))).length};
"""


def check(browser, url, width, dark):
    browser.set_window_size(width, 900)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.get(url)
    seen = browser.execute_script(SEEN)
    assert seen["tables"] >= 4, seen
    assert len(seen["plots"]) >= 3, seen
    for plot in seen["plots"]:
        assert plot["width"] > 150 and plot["height"] > 40, plot
        assert plot["marks"] > 5 and plot["words"] > 3, plot
        assert plot["ink"] == ("rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)"), plot
    assert seen["broken"] == 0 and seen["fetched"] == 0 and seen["resources"] == [], seen
    assert seen["uses"] == 0, seen
    assert seen["scroll"] <= 0, f"the page itself scrolls sideways at {width}: {seen['scroll']}"
    for line in browser.get_log("browser"):
        raise AssertionError(f"the browser complains: {line['message']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for words in (["run", "apsp-cpu", "--n", "64,100", "--rungs", "naive,min,engine-i32"],
                      ["run", "entropy-cpu", "--n", "64", "--rungs", "table,engine"]):
            subprocess.run([PROGRAM, *words, "--repeat", "2", "--out", folder], check=True,
                           stdout=subprocess.DEVNULL)
        subprocess.run([PROGRAM, "report", folder], check=True, stdout=subprocess.DEVNULL)
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        try:
            url = (pathlib.Path(folder) / "report.html").resolve().as_uri()
            for width in (1200, 500):
                for dark in (False, True):
                    check(browser, url, width, dark)
        finally:
            browser.quit()
    print("the page shows every plot, wide and narrow, light and dark")


main()
