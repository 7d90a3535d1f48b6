"""Markdown documents: their links lead somewhere, and the picture on the first screen is the sample's."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
IGNORED = {".venv", "dist", "build", "node_modules"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"```.*?```", re.DOTALL)
NAMED = re.compile(r"`((?:harness|reference_impl|tests|fixtures)/[\w./-]*\w)/?`")


def documents() -> list[Path]:
    """All Markdown files of the repository, those of runs left out."""
    runs = ROOT / "reports"
    return [
        path
        for path in ROOT.rglob("*.md")
        if not IGNORED & set(path.relative_to(ROOT).parts)
        and (runs not in path.parents or path.parent in (runs, runs / "sample"))
    ]


def anchors(path: Path) -> set[str]:
    """Anchors of a document's headings, formed as on GitHub."""
    headings = (line.lstrip("#").strip() for line in path.read_text("utf-8").splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(document: Path, link: str) -> bool:
    """Whether a relative link names a file of the repository and, in a document, one of its headings."""
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in anchors(target))


def test_every_link_of_a_document_leads_somewhere() -> None:
    """A file or heading that was renamed is noticed here before a reader meets the dead link."""
    dead = [
        f"{document.relative_to(ROOT)}: {link}"
        for document in documents()
        for link in LINK.findall(FENCE.sub("", document.read_text("utf-8")))
        if "://" not in link and not leads_somewhere(document, link)
    ]
    assert not dead


def test_every_file_that_a_document_names_is_there() -> None:
    """A document that names a module by its path from the root is corrected when the module moves."""
    gone = [
        f"{document.relative_to(ROOT)}: {name}"
        for document in documents()
        for name in NAMED.findall(FENCE.sub("", document.read_text("utf-8")))
        if not (ROOT / name).exists()
    ]
    assert not gone


def test_the_picture_of_the_readme_is_one_of_the_sample_report() -> None:
    """A sample that was made anew has other swim lanes: the picture is taken from it again."""
    _, _, drawing = (ROOT / "reports/sample/swim-lanes.svg").read_text("utf-8").partition(">")
    assert drawing.strip() in (ROOT / "reports/sample/report.html").read_text("utf-8")
