"""Documents have live links, short lines and few words, and the README's picture is the sample's."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
IGNORED = {".venv", "dist", "build", "node_modules", ".pytest_cache"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"```.*?```", re.DOTALL)
GENERATED = (
    "fixtures/opportunities.md",
    "fixtures/simulation/groups.md",
    "reports/sample/",
    "reports/sample-matrix/",
    "reports/sample-matrix-consumers/",
    "reports/sample-upgrade.md",
)
"""Documents that a command writes; other tests compare them with it."""

WRITTEN_TABLE = re.compile("<!-- signatures -->.*?<!-- end of signatures -->", re.DOTALL)
"""A table that a command writes into a document; tests/report compares it."""

MAX_LINE = 200
"""Longer lines cannot be reviewed in a difference; a longer table cell is a paragraph."""

MAX_WORDS = 30_000
"""What a newcomer can be expected to search. When it is reached, cut what the code or another document states as well."""

NAMED = re.compile(r"`((?:harness|reference_impl|tests|fixtures)/[\w./-]*\w)/?`")

LIVE_TABLE = ROOT / "tests/whole/README.md"
LIVE = re.compile(r"^(?:pytestmark = .*|@)pytest\.mark\.(?:cluster|container)\b", re.MULTILINE)
"""A module with this is live."""


def documents() -> list[Path]:
    runs = ROOT / "reports"
    return [
        path
        for path in ROOT.rglob("*.md")
        if not IGNORED & set(path.relative_to(ROOT).parts)
        and (runs not in path.parents or path.parent in (runs, runs / "sample"))
    ]


def written_by_hand() -> dict[str, str]:
    """Return what no command writes of the documents, by their path."""
    texts = {path.relative_to(ROOT).as_posix(): WRITTEN_TABLE.sub("", path.read_text("utf-8")) for path in documents()}
    return {name: text for name, text in texts.items() if not name.startswith(GENERATED)}


def anchors(path: Path) -> set[str]:
    headings = (line.lstrip("#").strip() for line in path.read_text("utf-8").splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(document: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in anchors(target))


def test_every_link_of_a_document_leads_somewhere() -> None:
    """Every link of a document has a target."""
    dead = [
        f"{document.relative_to(ROOT)}: {link}"
        for document in documents()
        for link in LINK.findall(FENCE.sub("", document.read_text("utf-8")))
        if "://" not in link and not leads_somewhere(document, link)
    ]
    assert not dead


def test_every_file_that_a_document_names_is_there() -> None:
    """Every file that a document names exists."""
    gone = [
        f"{document.relative_to(ROOT)}: {name}"
        for document in documents()
        for name in NAMED.findall(FENCE.sub("", document.read_text("utf-8")))
        if not (ROOT / name).exists()
    ]
    assert not gone


def test_each_file_of_live_tests_has_a_row_in_their_table() -> None:
    """The table in tests/whole has one row for each file of live tests, and no other."""
    modules = (ROOT / "tests").rglob("test_*.py")
    live = {path.relative_to(ROOT).as_posix() for path in modules if LIVE.search(path.read_text("utf-8"))}
    rows = re.findall(r"^\| `(.+?)` \|", LIVE_TABLE.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(live)


def test_lines_of_documents_are_short() -> None:
    """No line of a hand-written document is longer than 200 characters, so no table cell is a paragraph."""
    long = [
        f"{name}:{number}"
        for name, text in written_by_hand().items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MAX_LINE
    ]
    assert not long


def test_documents_stay_below_their_limit_of_words() -> None:
    """Hand-written documents have at most 30,000 words; the bars and rules of a table are none."""
    words = (word for text in written_by_hand().values() for word in text.split() if re.search(r"\w", word))
    assert sum(1 for _ in words) <= MAX_WORDS


def test_the_picture_of_the_readme_is_one_of_the_sample_report() -> None:
    """The README's picture is from the current sample report."""
    _, _, drawing = (ROOT / "reports/sample/swim-lanes.svg").read_text("utf-8").partition(">")
    assert drawing.strip() in (ROOT / "reports/sample/report.html").read_text("utf-8")
