"""The page of a record: contents, links, size and foreign text."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.record.page import html
from rocketdiff.record.page.document import (
    RecordDocument,
    RunLine,
    ShownSignature,
    SignatureChange,
    SignatureRate,
    document_of,
    encode,
)
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.report.clusters import Weight
from rocketdiff.report.formats.html import FILE_NAME as REPORT
from tests.record.conftest import spoil

HOSTILE = "<script>alert(1)</script>"
LOST, TURN = "loss.acknowledged-not-stored", "queue.out-of-turn/first"


def shown(signature: str, *, weight: Weight = Weight.NEW) -> ShownSignature:
    check = "loss" if signature == LOST else "queue-choice"
    return ShownSignature(check, signature, "x", ("fault-latency/pause",), 3, weight, anchor=f"divergence-{check}")


def line(number: int, candidate: str, verdict: str, *shows: ShownSignature, report: str = "") -> RunLine:
    scenarios = ("fault-latency/pause", "round-robin/calm")
    return RunLine(
        f"r{number}", "java:5.3.3", candidate, "5.3.3", "processes", "quick", 7, 1_790_000_000_000 + number * 86_400_000,
        verdict, "", 20, 1 if verdict == "inconclusive" else 0, scenarios, shows, f"rocketdiff run --subject {candidate}", report,
    )  # fmt: skip


def change(over: str, state: str, signature: str, run: str, pair: str, before: str) -> SignatureChange:
    check = "loss" if signature == LOST else "queue-choice"
    whose = "java:5.3.3~java:5.1.4 on 5.3.3" if over == "time" else "java~java on 5.3.3"
    return SignatureChange(
        over, state, whose, "fault-latency/pause", check, signature, run, "r0", pair, before, 0, 4, 3, 3, 0.4, 1.0, 5
    )


def rate(candidate: str, signature: str, runs: int, *, when: str = "") -> SignatureRate:
    """A rate over four runs."""
    check, pair = "loss" if signature == LOST else "queue-choice", f"java:5.3.3~{candidate}"
    whose = f"{pair} on 5.3.3" if when else "java~java on 5.3.3"
    return SignatureRate(whose, "fault-latency/pause", check, signature, pair, when, 4, runs, 0.1, 0.9)


@pytest.fixture
def document() -> RecordDocument:
    """A new loss in one release, a difference gone in another, hostile text, and an inconclusive run."""
    new, old = "java:5.3.3~java:5.1.4", "java:5.3.3~java:4.9.8"
    return RecordDocument(
        schema_version="1.0.0", rocketdiff="0.1.0", title=f"All {HOSTILE}", command="rocketdiff record page", is_restricted=False,
        total=4, answered=4, verdicts=(("conforms", 1), ("diverges", 2), ("inconclusive", 1)), first_ms=1_790_000_000_000, last_ms=1_790_300_000_000,
        runs=(
            line(4, "java:5.1.4", "diverges", shown(LOST), report="runs/r4/report.html"),
            line(3, "java:4.9.8", "diverges", shown(TURN), shown(HOSTILE, weight=Weight.DECLARED)),
            line(2, "java:5.1.4", "inconclusive"),
            line(1, "python:5.3.3", "conforms"),
        ),
        changes=(
            change("time", "new", LOST, "r4", new, new),
            change("releases", "new", LOST, "r4", new, new),
            change("releases", "gone", TURN, "r4", new, old),
        ),
        by_release=(rate("java:4.9.8", LOST, 0), rate("java:5.1.4", LOST, 3), rate("java:4.9.8", TURN, 4)),
        by_week=(rate("java:5.1.4", LOST, 1, when="2026-11-16"), rate("java:5.1.4", LOST, 2, when="2026-11-23")),
        quarantine=(("half", "no run.json"),),
    )  # fmt: skip


def test_divergences_come_first_then_figures_then_how_sure(document: RecordDocument) -> None:
    """The page shows divergences first, and counts new undeclared ones in its headline."""
    page = html.render(document)
    sections = re.findall(r'<section id="([a-z]+)"', page)
    assert sections == ["time", "releases", "signatures", "runs", "sure", "reading"]
    assert html.headline(document) == "1 new divergence"
    declared = tuple(replace(one, declared_by="known") for one in document.changes)
    assert html.headline(msgspec.structs.replace(document, changes=declared)) == "Nothing is new over time"
    assert html.tone_of(msgspec.structs.replace(document, changes=declared)) == "good"
    assert html.headline(msgspec.structs.replace(document, answered=0)) == "Nothing is judged yet"


def test_every_link_leads_to_a_place_of_the_page_or_to_a_report(document: RecordDocument) -> None:
    """
    Every link has a target, and foreign text is escaped.

    A change within one release is listed over time only.
    """
    page = html.render(document)
    places = re.findall(r'\bid="([^"]+)"', page)
    assert len(places) == len(set(places))
    links = set(re.findall(r'href="([^"]+)"', page)) - {"data:,"}
    assert {link for link in links if not link.startswith("#")} == {
        "runs/r4/report.html", "runs/r4/report.html#divergence-loss",
    }  # fmt: skip
    assert {link[1:] for link in links if link.startswith("#")} <= set(places)
    assert [place for place in places if place.startswith("change-")] == ["change-time-1", "change-releases-1"]
    assert HOSTILE not in page
    assert "java:5.1.4 against java:5.3.3: 3 of 4 runs (10% to 90%)" in page


def test_a_page_that_would_be_too_large_has_fewer_runs(
    document: RecordDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is too large keeps the newest runs."""
    many = msgspec.structs.replace(document, runs=document.runs[:1] * 60, total=60)
    monkeypatch.setattr(html, "LIMIT_BYTES", len(html.render(many)) - 1)
    assert "30 of 60, so that the page stays under" in html.render(many)


class NoRows:
    """No changes."""

    changes: tuple[dict[str, Any], ...] = ()
    by_release: tuple[dict[str, Any], ...] = ()
    by_week: tuple[dict[str, Any], ...] = ()
    groups: tuple[dict[str, Any], ...] = ()


def test_a_run_is_linked_to_the_divergence_in_its_report(
    recorded: Callable[..., RecordPlace], new_run: Callable[..., Path], tmp_path: Path
) -> None:
    """A run links to its divergence in the report; a page can be restricted to one run."""
    lost, fine = new_run("lost", change=spoil), new_run("fine")
    judge_runs([lost], policy=Policy(), master="none")
    snapshot = look(recorded(lost, fine))
    page = tmp_path / "record.html"
    folders = {"lost": lost, "fine": fine}
    whole = document_of(snapshot, NoRows(), title="t", command="c", page=page, folders=folders)
    assert [(run.run, run.verdict, run.report) for run in whole.runs] == [
        ("fine", "conforms", ""), ("lost", "diverges", f"runs/lost/{REPORT}"),
    ]  # fmt: skip
    (one,) = whole.runs[1].shows
    assert (one.signature, one.weight) == (LOST, Weight.NEW)
    assert f'id="{one.anchor}"' in (lost / REPORT).read_text()
    assert 'href="runs/lost/report.html#' in html.render(whole)
    only = document_of(snapshot, NoRows(), title="t", command="c", page=page, folders={}, only=frozenset({"fine"}))
    assert [run.run for run in only.runs] == ["fine"]
    assert (only.total, only.answered, only.verdicts) == (1, 1, (("conforms", 1),))
    assert msgspec.json.decode(encode(only), type=RecordDocument) == only
