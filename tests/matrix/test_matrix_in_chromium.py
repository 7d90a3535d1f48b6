"""The page of a matrix in a browser."""

import shutil
from pathlib import Path

import pytest

from rocketdiff.matrix import html
from rocketdiff.matrix.document import MatrixDocument

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PATIENCE_MS = 180_000
"""Limit for a hung browser."""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)")
def test_a_reader_goes_from_a_cell_to_what_it_rests_on(matrix: MatrixDocument, tmp_path: Path) -> None:
    """A reader goes from a cell to its evidence by keys and a click, on desktop and phone, without error or further request."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it takes a second in every process that only collects

    address = html.write(matrix, tmp_path).as_uri()
    complaints, requests = [], []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
            page.set_default_timeout(PATIENCE_MS)
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(address)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            page.locator("#behaviours tbody a").first.focus()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowRight")
            # From A1 of the two releases to C4 of the toy: rows without an answer are not in the table.
            assert page.evaluate("document.activeElement.title").startswith("toy drops, C")
            page.keyboard.press("End")
            assert page.evaluate("document.activeElement.title").startswith("go 2.1.2, C")
            page.locator("#checks td a.bad").click()
            line = page.locator("[id='client-toy-drops-3.loss']")
            assert line.is_visible()
            line.locator("a code").click()
            assert page.locator("#difference-2-client-toy-drops-3").is_visible()
            page.locator("[data-filter]").click()
            assert page.locator("#checks tbody tr:visible").count() == 2
            page.close()
        browser.close()
    assert complaints == []
    assert requests == [address, address]
