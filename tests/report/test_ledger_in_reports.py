"""Declared divergences and the ledger in every format."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from rich.console import Console

from rocketdiff.core.answers.evidence import TraceCounts
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.errors import ExitCode
from rocketdiff.ledger.model import Conditions, Entry, Ledger, Party
from rocketdiff.report.clusters import Weight
from rocketdiff.report.document import Document, build, decode, encode
from rocketdiff.report.formats import html, junit, markdown
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.report.words.ledger import ledger_parts, to_look_at
from rocketdiff.verdict.judge import judge
from tests.ledger.ledger_entries import entry
from tests.report.conftest import AVOIDS, NEW, OLD, STAYS, sample_evidence, sample_run_info

SCHEMA = Path(__file__).parents[2] / "fixtures" / "schema" / "report-1.json"
STICKY = entry(
    id="K01-sticky",
    check="fault-latency/*/queue-choice",
    when=Conditions(Party("java"), Party("java")),
    arm_at_fault="baseline",
    signatures=(STAYS.signature,),
    reason="A retry accepts only the broker that failed.",
    ref="apache/rocketmq#1576",
)
SHORTER = replace(
    STICKY,
    id="K16-shorter",
    check="fault-latency/*/avoidance",
    signatures=(AVOIDS.signature,),
    arm_at_fault="spec-gap",
    reason="Nobody says how long a broker is avoided.",
    ref="apache/rocketmq#6567",
)
GONE = replace(STICKY, id="K99-gone", check="plain/*/queue-choice", signatures=("queue.gone",))
LENIENT = Policy(Inconclusive.WARN)  # one check of the sample run has no answer


def judged(*entries: Entry) -> Document:
    run = sample_run_info()
    counts = TraceCounts(runs=1, cases=8, sends=7_200, attempts=7_246, stored=7_231, foreign=0, faults=8)
    return build(run, judge(sample_evidence(), run, LENIENT, Ledger(entries)), Plots((), (), (), (), ()), counts)


@pytest.fixture(scope="module")
def known() -> Document:
    return judged(STICKY, SHORTER)


@pytest.fixture(scope="module")
def stale() -> Document:
    return judged(STICKY, SHORTER, GONE)


def terminal(document: Document) -> str:
    out = StringIO()
    print_summary(document, Console(file=out, width=200))
    return out.getvalue()


def test_a_run_with_declared_divergences_only_conforms(known: Document) -> None:
    """A run with only declared divergences exits with 0 and says so."""
    assert known.exit_code is ExitCode.CONFORMS
    assert known.machine_line.startswith("VERDICT conforms new=0 declared=8 stale=0 inconclusive=")
    assert f"{NEW} differs from {OLD} only as the ledger declares" in terminal(known)


def test_a_stale_entry_is_exit_3_with_its_own_headline(stale: Document) -> None:
    """A stale entry is exit 3 with its own headline, here for two cases."""
    assert (stale.exit_code, stale.counts.stale, stale.counts.declared) == (ExitCode.STALE_LEDGER, 2, 8)
    assert f"{NEW} does not show a divergence that the ledger declares" in terminal(stale)


def test_clusters_are_declared_by_name(known: Document) -> None:
    """Clusters are declared per divergence, with the names of the entries."""
    declared = {cluster.signature: cluster.declared_by for cluster in known.clusters}
    assert declared == {STAYS.signature: ("K01-sticky",), AVOIDS.signature: ("K16-shorter",)}
    assert {cluster.weight for cluster in known.clusters} == {Weight.DECLARED}


def test_the_document_keeps_the_ledger_and_satisfies_its_schema(stale: Document) -> None:
    """A document with a ledger survives a round trip and satisfies the schema."""
    assert decode(encode(stale), where="x") == stale
    jsonschema.validate(json.loads(encode(stale)), json.loads(SCHEMA.read_bytes()))


def test_the_terminal_gives_reason_and_reference_once(stale: Document) -> None:
    """The terminal prints an entry's reason and reference once, and where a stale one is missing."""
    text = " ".join(terminal(stale).split())
    assert text.count("A retry accepts only the broker that failed. (apache/rocketmq#1576; at fault: baseline)") == 1
    assert "declared by K01-sticky" in text
    assert (
        "K99-gone (own.yaml line 4): stale; declared always, seen in 0 of 2 decisive checks, absent from"
        " plain/pause-one-of-two/queue-choice, plain/pause-longer-than-timeout/queue-choice"
    ) in text
    assert "3 entries about this run: 2 as declared, 1 stale; 1 of them at fault on both sides" in text


def test_markdown_lists_the_shared_ones_apart(stale: Document) -> None:
    """Markdown lists divergences with both clients at fault separately."""
    text = markdown.render(stale, markdown.SUMMARY_BYTES)
    own, shared = text.split("Both at fault, or a gap in the specification:")
    assert "| declared | by `K01-sticky` |" in own
    assert "- K99-gone" in own
    assert "A retry accepts only the broker that failed." in own
    assert "Nobody says how long a broker is avoided." in shared


def test_junit_passes_what_is_declared_and_fails_what_is_stale(stale: Document) -> None:
    """JUnit passes declared divergences with entry and reason and fails stale entries."""
    root = ET.fromstring(junit.render("r", 1, stale.results, stale.policy))
    declared = root.findall(".//property[@name='declared']")
    assert {one.get("value") for one in declared} == {"K01-sticky", "K16-shorter"}
    assert any(
        "apache/rocketmq#1576" in (one.get("value") or "") for one in root.findall(".//property[@name='reason']")
    )
    failures = root.findall(".//failure")
    assert [one.get("type") for one in failures] == ["STALE", "STALE"]
    assert (failures[0].get("message") or "").startswith("stale: K99-gone (own.yaml line 4) declares queue.gone")


def test_the_page_has_a_section_for_the_ledger_and_links_to_it(stale: Document) -> None:
    """The page has a ledger section, and each card links to its entry."""
    text = html.render(stale)
    assert 'href="#ledger-K01-sticky"' in text
    assert '<tr id="ledger-K01-sticky">' in text
    assert "absent from plain/pause-one-of-two/queue-choice" in text
    assert text.index("One client at fault") < text.index("Both at fault, or a gap in the specification")


def test_a_page_without_a_ledger_has_no_such_section(document: Document, page_text: str) -> None:
    """A page without a ledger has no ledger section."""
    assert document.ledger == ()
    assert 'id="ledger"' not in page_text


def test_entries_to_look_at_are_the_stale_and_the_ageing(stale: Document) -> None:
    """Only stale and ageing entries need attention."""
    ageing = judged(replace(STICKY, owner=""))
    assert [entry.id for entry in to_look_at(stale)] == ["K99-gone"]
    assert [entry.id for entry in to_look_at(ageing)] == ["K01-sticky"]
    assert "it has had no owner since 2026-11-01" in " ".join(terminal(ageing).split())


def test_parts_without_entries_are_left_out() -> None:
    """The ledger section omits parts without entries."""
    assert [part.title for part in ledger_parts(judged(STICKY))] == ["One client at fault"]
