"""The page in headless Chromium, through playwright."""

import shutil
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import pytest

from rocketdiff.report.document import Document
from rocketdiff.report.formats import html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 180_000
"""Ends a hung browser; a machine with ten other jobs may be slow."""

SECTIONS = ("divergences", "unanswered", "checks", "failover", "cases", "validity", "gate", "run", "reading")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - a second's work for every process that only collects

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(page_text: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / html.FILE_NAME
    path.write_text(page_text, encoding="utf-8")
    return path.as_uri()


class Visit:
    """A loaded page with its console messages and requests."""

    def __init__(
        self, browser: "Browser", address: str, width: int, scheme: Literal["light", "dark"] = "light"
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            reduced_motion="reduce",
            color_scheme=scheme,
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)


@pytest.fixture(scope="module")
def looked_at(browser: "Browser", address: str) -> Iterator[Visit]:
    """The page for tests that do not change it: each load costs a second of a core."""
    visit = Visit(browser, address, 1280)
    yield visit
    visit.context.close()


@pytest.fixture(scope="module")
def unfolded(browser: "Browser", address: str) -> Iterator[Visit]:
    """The page with everything unfolded, for windows of any width."""
    visit = Visit(browser, address, 1280)
    visit.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    yield visit
    visit.context.close()


@pytest.fixture
def visit(browser: "Browser", address: str) -> Iterator[Visit]:
    visit = Visit(browser, address, 1280)
    yield visit
    visit.context.close()


def test_the_page_is_quiet_and_asks_for_nothing(looked_at: Visit, address: str) -> None:
    """The page logs nothing and requests only its own file."""
    assert looked_at.complaints == []
    assert looked_at.requests == [address]


def test_every_section_is_there_with_a_heading(looked_at: Visit) -> None:
    """All sections exist, in order, with a heading."""
    found = looked_at.page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")
    assert tuple(found) == SECTIONS
    for section in SECTIONS:
        assert looked_at.page.locator(f"#{section} h2").inner_text().strip()


def test_charts_are_seen(looked_at: Visit) -> None:
    """Overview, lanes, shares, ambiguity and failover charts have a size and a text alternative."""
    for kind in (
        "figure.overview svg",
        "figure.lanes svg",
        "figure.shares svg",
        "figure.ambiguity svg",
        "#failover figure svg",
    ):
        chart = looked_at.page.locator(kind).first
        box = chart.bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 60
        assert len(chart.get_attribute("aria-label") or "") > 40


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_page_is_never_wider_than_the_window(unfolded: Visit, width: int) -> None:
    """The page is never wider than the window; wide tables and lanes scroll in their box."""
    unfolded.page.set_viewport_size({"width": width, "height": 900})
    assert unfolded.page.evaluate("window.innerWidth") == width
    assert unfolded.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_button_leads_to_the_first_divergence(visit: Visit, document: Document) -> None:
    """The button scrolls to the first divergence."""
    visit.page.click("text=Jump to the first divergence")
    card = visit.page.locator(f"#divergence-{document.clusters[0].fingerprint}")
    visit.page.wait_for_function(
        "id => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 200",
        arg=f"divergence-{document.clusters[0].fingerprint}",
    )
    assert card.is_visible()


def test_a_sign_of_the_matrix_unfolds_its_case(visit: Visit) -> None:
    """A sign of the matrix unfolds the case that it links to."""
    folded = visit.page.locator("#case-explicit-queue-by-selector")
    assert folded.get_attribute("open") is None
    visit.page.click(".matrix a[href='#case-explicit-queue-by-selector.loss']")
    visit.page.wait_for_function("document.getElementById('case-explicit-queue-by-selector').open")


def test_a_reader_goes_from_a_sign_to_the_divergence_its_pictures_and_what_repeats_it(visit: Visit) -> None:
    """Links lead from a sign to the answer, its card with the commands, and the case's lanes."""
    visit.page.locator(".matrix td > a.bad").first.click()
    answer = visit.page.locator(":target")
    link = answer.locator("a[href^='#divergence-']").first
    card = visit.page.locator(f"[id='{(link.get_attribute('href') or '').removeprefix('#')}']")
    link.click()
    assert card.is_visible()
    assert "rocketdiff explain" in card.locator("footer").inner_text()
    assert " --seed 918273 --scenario fault-latency/" in card.locator("footer").inner_text()
    card.locator("text=Show the case with its pictures").click()
    assert visit.page.locator(":target figure.lanes svg").count() > 0


def test_the_filter_leaves_what_diverges(visit: Visit) -> None:
    """The filter leaves four diverging cases and one open; a second click restores all."""
    rows = visit.page.locator(".matrix tbody tr:visible")
    assert rows.count() == 9
    visit.page.click("text=Only what diverges or is open")
    assert rows.count() == 5
    assert visit.page.locator("details.case:visible").count() == 5
    visit.page.click("text=Only what diverges or is open")
    assert rows.count() == 9


def test_the_reproduce_command_is_copied(browser: "Browser", address: str, document: Document) -> None:
    """The button copies the reproduce command unchanged."""
    visit = Visit(browser, address, 1280)
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.page.evaluate("window.setTimeout = () => 0")  # or "Copied" is gone before a busy machine has looked
    visit.page.click("text=Copy reproduce command")
    visit.page.wait_for_selector("button:has-text('Copied')")
    assert visit.page.evaluate("navigator.clipboard.readText()") == document.run.reproduce
    visit.context.close()


def test_the_dark_scheme_reaches_into_the_charts(browser: "Browser", address: str) -> None:
    """The dark scheme changes both the page and the text of the charts."""
    seen = []
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        visit = Visit(browser, address, 1280, scheme)
        seen.append(
            visit.page.evaluate(
                "['body', 'figure.lanes svg text'].map(one => { const style = getComputedStyle(document.querySelector(one));"
                " return one === 'body' ? style.backgroundColor : style.fill; })"
            )
        )
        visit.context.close()
    assert all(light != dark for light, dark in zip(*seen, strict=True))


def test_paper_has_the_folds_as_they_are_and_everything_on_it(browser: "Browser", address: str) -> None:
    """Printing unfolds nothing, and the matrix fits A4 (180 mm are 680 pixels)."""
    visit = Visit(browser, address, 680)
    visit.page.emulate_media(media="print")
    before = visit.page.locator("details[open]").count()
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details[open]").count() == before
    assert visit.page.evaluate("document.querySelector('.matrix').scrollWidth") <= 680
    visit.context.close()


def test_on_a_phone_every_answer_is_inside_the_window(browser: "Browser", address: str) -> None:
    """On a phone all answers stay inside the window."""
    visit = Visit(browser, address, 390)
    right = visit.page.eval_on_selector_all(
        "details.case[open] table.answers td", "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    )
    assert 0 < right <= 390
    visit.context.close()


def test_tables_and_headings_can_be_followed_by_a_screen_reader(looked_at: Visit) -> None:
    """Header cells have a scope, heading levels are not skipped, scrolling boxes have a name."""
    assert looked_at.page.locator("th:not([scope])").count() == 0
    levels = looked_at.page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert looked_at.page.locator("[role=region]:not([aria-label]):not([aria-labelledby])").count() == 0
