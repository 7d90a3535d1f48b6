"""Hostile text of clients, brokers, ledgers and stored runs is inert in every format that the product writes."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from rocketdiff.core.resources import resource
from rocketdiff.core.tables.checks import Concern
from rocketdiff.lab.history import groups_page
from rocketdiff.lab.history.changelog import BehaviourChange, EdgeChanges
from rocketdiff.lab.history.groups import Grouping, GroupsReport, ReleaseGroup
from rocketdiff.lab.history.lineage import Edge
from rocketdiff.lab.history.rule_table import COLUMNS, RuleRow
from rocketdiff.lab.upgrade import Item, Upgrade
from rocketdiff.lab.upgrade import html as upgrade_html
from rocketdiff.lab.upgrade import markdown as upgrade_markdown
from rocketdiff.matrix.command import write_all
from rocketdiff.matrix.document import MatrixDocument
from rocketdiff.record.page import html as record_html
from rocketdiff.record.page.document import RecordDocument
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.document import Document
from rocketdiff.report.formats.write import write_reports
from rocketdiff.report.run_difference import render
from rocketdiff.simulation.script import Depth, NamedScript
from tests.core.test_markdown import HOSTILE
from tests.lab.history.test_groups import WALK
from tests.matrix.conftest import matrix
from tests.record.test_page import document as record
from tests.report.inertness import active_parts
from tests.report.test_cleaning import poisoned

__all__ = ["matrix", "record"]

POISON = " ".join(HOSTILE)

MAKERS = {
    "report/formats/html.py", "report/formats/markdown.py", "report/formats/sarif.py", "report/formats/junit.py",
    "report/formats/badge.py", "report/run_difference.py", "matrix/html.py", "matrix/markdown.py", "matrix/badge.py",
    "record/page/html.py", "lab/upgrade.py", "lab/history/groups_page.py",
}  # fmt: skip
"""Modules that make documents for readers, all called by ``written``."""

MAKES = re.compile(r"^def (markdown|html|render)\(|\btable_row\(|\.get_template\(", re.MULTILINE)


def released(poison: str) -> str:
    return f"5.3.3{poison}"


def groups(poison: str) -> str:
    script = NamedScript(poison, WALK.script)
    change = BehaviourChange(poison, poison, script, None)  # type: ignore[arg-type]  # the page does not show the answers
    edges = (EdgeChanges(Edge("5.3.3", released(poison)), (change,)), EdgeChanges(Edge(released(poison), "5.4.0"), ()))
    report = GroupsReport((Grouping(Depth.SELECTION, (ReleaseGroup("SA", (released(poison),)),), 1, 1),), edges)
    return groups_page.markdown(report, [RuleRow((released(poison),), (poison,) * len(COLUMNS))])


def upgraded(poison: str) -> Upgrade:
    item = Item(next(iter(Concern)), poison, poison, poison, poison, poison, poison, poison, (poison,), poison)
    return Upgrade("5.3.3", released(poison), (item,), 1, (poison,))


def written(document: Document, matrix_: MatrixDocument, record_: RecordDocument, folder: Path) -> Iterator[Path]:
    """Write every document with poison and return the files; registries give the formats, so that a new one is among them."""
    bad = cleaned(poisoned(document, POISON))
    yield from dict(write_reports(bad, folder)).values()
    yield from dict(write_all(cleaned(poisoned(matrix_, POISON)), folder / "matrix")).values()
    yield record_html.write(cleaned(poisoned(record_, POISON)), folder / "record.html")
    lines, _ = render((bad, bad))
    pages = {
        "diff.md": "\n".join(lines[:-1]),
        "upgrade.md": upgrade_markdown(upgraded(POISON)),
        "upgrade.html": upgrade_html(upgraded(POISON)),
        "groups.md": groups(POISON),
    }
    for name, text in pages.items():
        path = folder / name
        path.write_text(text)
        yield path


class Elements(HTMLParser):
    """Collects what hostile text would have added to a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            leads = name in {"href", "src", "xlink:href", "action"} and re.match(
                r"\s*(javascript|https?|//)", value or ""
            )
            if leads or name.startswith("on"):
                self.found.append(f"{tag} {name}={value}")


def acting_in_page(text: str) -> list[str]:
    page = Elements()
    page.feed(text)
    return [*page.found, *(["script"] if "<script>alert" in text else [])]


def acting_in_sarif(text: str) -> list[str]:
    return [part for words in _texts(json.loads(text)) for part in active_parts(words.replace("\n", " "), is_text=True)]


def _texts(node: Any) -> Iterator[str]:
    for name, item in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if name in ("text", "markdown", "justification") and isinstance(item, str):
            yield item
        else:
            yield from _texts(item)


def acting_in_junit(text: str) -> list[str]:
    known = {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
        "skipped",
        "properties",
        "property",
        "system-out",
    }
    return [one.tag for one in ET.fromstring(text).iter() if one.tag not in known]


ACTING: Mapping[str, Callable[[str], list[str]]] = {
    ".md": active_parts,
    ".html": acting_in_page,
    ".sarif": acting_in_sarif,
    ".xml": acting_in_junit,
    ".json": lambda text: [] if json.loads(text) else ["empty"],
}
"""What acts in a file, by its suffix; JSON is shown by nobody as it is."""


def test_every_format_is_inert(
    document: Document, matrix: MatrixDocument, record: RecordDocument, tmp_path: Path
) -> None:
    """No element, link, mention, reference or hidden character of hostile text is active in any file."""
    for path in written(document, matrix, record, tmp_path):
        text = path.read_text(encoding="utf-8")
        assert ACTING[path.suffix](text) == [], path.name
        assert "evil.example" in text or path.suffix in {".json", ".xml"}, f"{path.name} shows nothing foreign"


def test_every_maker_of_documents_is_tried() -> None:
    """A new module that writes Markdown, HTML or SARIF must be called by ``written``."""
    harness = resource("harness/rocketdiff")
    makers = {
        file.relative_to(harness).as_posix()
        for file in harness.rglob("*.py")
        if MAKES.search(file.read_text(encoding="utf-8"))
    }
    assert makers - {"core/text/markdown.py"} == MAKERS
