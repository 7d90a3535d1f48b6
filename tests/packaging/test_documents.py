"""Documents have live links, and the README's picture is the sample's."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
IGNORED = {".venv", "dist", "build", "node_modules"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"```.*?```", re.DOTALL)
NAMED = re.compile(r"`((?:harness|reference_impl|tests|fixtures)/[\w./-]*\w)/?`")


def documents() -> list[Path]:
    runs = ROOT / "reports"
    return [
        path
        for path in ROOT.rglob("*.md")
        if not IGNORED & set(path.relative_to(ROOT).parts)
        and (runs not in path.parents or path.parent in (runs, runs / "sample"))
    ]


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


def test_the_picture_of_the_readme_is_one_of_the_sample_report() -> None:
    """The README's picture is from the current sample report."""
    _, _, drawing = (ROOT / "reports/sample/swim-lanes.svg").read_text("utf-8").partition(">")
    assert drawing.strip() in (ROOT / "reports/sample/report.html").read_text("utf-8")
