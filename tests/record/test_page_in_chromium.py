"""The page of a record in a browser."""

import shutil
from pathlib import Path

import pytest

from rocketdiff.record.page import html
from rocketdiff.record.page.document import RecordDocument
from tests.record.test_page import document as document  # noqa: PLC0414 - a fixture, for this file too

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PATIENCE_MS = 180_000
"""Limit for a hung browser."""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)")
def test_a_reader_filters_and_goes_from_what_is_new_to_its_run(document: RecordDocument, tmp_path: Path) -> None:
    """
    A reader can filter and go from a new divergence to its run, by keys and clicks, without error or further request.

    On desktop, phone and paper, light and dark.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it takes a second in every process that only collects

    address = html.write(document, tmp_path / "record.html").as_uri()
    complaints, requests, grounds = [], [], set()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, scheme in ((1280, "light"), (390, "dark")):
            page = browser.new_page(
                viewport={"width": width, "height": 900},
                reduced_motion="reduce",
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page.set_default_timeout(PATIENCE_MS)
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(address)
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            rows = page.locator("#runs tbody tr:visible")
            assert rows.count() == 4
            page.locator("[data-choose=client]").select_option("python")
            assert rows.count() == 1
            assert page.locator(".cluster:visible, #signatures .card:visible").count() == 0
            assert page.locator("output").inner_text() == "1 of 8 entries"
            page.locator("[type=reset]").click()
            page.locator("[data-choose=release]").focus()
            page.keyboard.type("5.1")  # a browser forgets keys after a second: any part of this chooses 5.1.4
            page.locator("[data-choose=verdict]").select_option("diverges")
            assert rows.count() == 1
            assert page.locator("#signatures thead th.check:visible").count() == 1
            # The linked run is shown although the filter excludes its verdict.
            page.locator("[data-choose=verdict]").select_option("conforms")
            page.evaluate("location.hash = '#change-time-1'")
            page.wait_for_function("!document.querySelector('[data-away]')")
            page.locator("#change-time-1 >> text=its run").click()
            assert page.evaluate("document.querySelector(':target').id") == "run-r4"
            page.emulate_media(media="print")
            assert page.locator(".filters:visible, .button:visible").count() == 0
            assert page.locator("th:not([scope])").count() == 0
            page.close()
        browser.close()
    assert complaints == []
    assert requests == [address, address]
    assert len(grounds) == 2
