"""The terminal summary at the end of a run."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.run_info import Guard
from rocketdiff.report.clusters import ExampleContext, KnownEntry
from rocketdiff.report.document import Document
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.verdict.judge import RunVerdict


def printed(document: Document, width: int = 100, *, colour: bool = False, files: dict[str, Path] | None = None) -> str:
    out = StringIO()
    print_summary(document, Console(file=out, width=width, force_terminal=colour), files)
    return out.getvalue()


def test_a_divergent_run_reads_well(document: Document, snapshot: SnapshotAssertion) -> None:
    """The summary of a diverging run has verdict, divergences, open checks, matrix and commands."""
    lines = printed(document, files={"html": Path("reports/r/report.html")}).splitlines()
    assert "\n".join(line.rstrip() for line in lines) == snapshot


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_last_line_is_the_machine_line_unbroken(document: Document, width: int) -> None:
    """The last line is the machine line, unbroken at any terminal width."""
    assert printed(document, width).splitlines()[-1] == document.machine_line


def test_there_is_no_colour_on_a_pipe_and_some_on_a_terminal(document: Document) -> None:
    """Escape sequences appear on a terminal only, never on a pipe."""
    assert "\x1b[" not in printed(document)
    assert "\x1b[" in printed(document, colour=True)


def test_text_of_clients_is_never_taken_for_markup(document: Document) -> None:
    """Text from a client is never interpreted as rich markup."""
    example = replace(document.clusters[0].example, observed="[red]queue[/red] [/]")
    cluster = replace(document.clusters[0], example=example)
    assert "[red]queue[/red] [/]" in printed(msgspec.structs.replace(document, clusters=(cluster,)))


def test_a_broken_guard_stands_beside_the_verdict(document: Document) -> None:
    """A broken guard is printed beside the verdict, with what was observed and expected."""
    guard = Guard("arms started together", False, "at most 50 ms apart", "412 ms")
    broken = msgspec.structs.replace(document, run=replace(document.run, guards=(guard,)), verdict=RunVerdict.INVALID)
    text = printed(broken)
    assert "! This run cannot be judged: its set-up did not hold" in text
    assert "✗ arms started together: 412 ms (expected: at most 50 ms apart)" in text


def test_many_signatures_are_cut_short(document: Document) -> None:
    """Six signatures are shown and the rest counted."""
    many = tuple(replace(document.clusters[0], signature=f"kind/{n}") for n in range(20))
    text = printed(msgspec.structs.replace(document, clusters=many))
    assert "kind/5 (" in text
    assert "kind/6 (" not in text
    assert "and 14 more signatures in the report" in text


def test_rules_that_fail_on_the_baseline_are_not_blamed_on_the_candidate(document: Document) -> None:
    """A ``rules/`` signature of the baseline is not blamed on the candidate."""
    cluster = replace(document.clusters[0], signature="rules/queue.impossible", subject="java:4.7.1")
    text = printed(msgspec.structs.replace(document, clusters=(cluster,)))
    assert "The rules for java:4.7.1 do not explain what it did itself" in text


def test_a_conforming_run_has_no_section_about_divergences(document: Document) -> None:
    """A conforming run has a verdict and no section about divergences."""
    fine = tuple(replace(r, verdict=Verdict.CONFORMS, divergences=()) for r in document.results)
    text = printed(msgspec.structs.replace(document, results=fine, clusters=(), verdict=RunVerdict.CONFORMS))
    assert "✓ java:5.3.3 behaves like java:4.7.1" in text
    assert "What diverged" not in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_however_many_checks_a_case_keeps_its_name_and_every_answer(document: Document, width: int) -> None:
    """At any width each case keeps its name and answers; fourteen columns left no room at 80."""
    names = ["callbacks", "content", "order", "delay", "protocol", "validity"]
    more = [replace(document.results[0], check=name) for name in names]
    wide = msgspec.structs.replace(document, results=(*document.results, *more))
    reported = printed(wide, width).partition("Checks\n")[2].partition("\nMore")[0].splitlines()
    assert max(map(len, reported)) <= width
    heads = [head for line in reported if line.split()[:1] == ["case"] for head in line.split()[1:]]
    fine = (
        " ".join(reported).partition("in every case that asks: ")[2].partition("  case ")[0].replace(",", " ").split()
    )
    shown = {one.check for one in wide.results}
    assert set(heads) | set(fine) == shown
    assert len(heads) + len(fine) == len(shown)
    assert not [line for line in reported if len(line.strip()) == 1]


def test_an_example_names_its_witness(document: Document) -> None:
    """An example has the reason and reference of a known entry, and the first release that explains it."""
    first = document.clusters[0]
    entry = KnownEntry("K16", "avoided for 10 s instead of 600 s", "apache/rocketmq#6567")
    context = ExampleContext(first.fingerprint, str(first.weight), known=(entry,), since="5.1.4", before="5.1.3")
    text = " ".join(printed(msgspec.structs.replace(document, contexts=(context,))).split())
    assert "known avoided for 10 s instead of 600 s (apache/rocketmq#6567)" in text
    assert "explained from 5.1.4 on; the rules of 5.1.3 do not explain it wholly" in text


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("no send was retried", "the reasons are listed under Without an answer."),
        (
            "served-baseline: saw the first after 10.1 s of queue 0 of broker-b",
            "brokers missed a heartbeat, as happens by chance: add --last-failed",
        ),
    ],
)
def test_a_run_without_an_answer_names_the_reason_that_most_share(document: Document, reason: str, remedy: str) -> None:
    """An inconclusive run names the commonest reason and what to do."""
    results = tuple(
        replace(result, reason=reason) if result.reason.startswith("no send was retried") else result
        for result in document.results
    )
    open_run = msgspec.structs.replace(document, verdict=RunVerdict.INCONCLUSIVE, results=results)
    text = " ".join(printed(open_run).split())
    assert f"1 of 1 open check: {reason}." in text
    assert f"What to do: {remedy}" in text


@pytest.mark.parametrize(
    ("held", "message"),
    [(True, "Controls: the baseline beside itself, 1 guard, no alarm"), (False, "raised an alarm, so their cases")],
)
def test_controls_are_reported(document: Document, held: bool, message: str) -> None:
    """The summary states whether the control guards held or raised an alarm."""
    guard = Guard("control", held, "no alarm", "none")
    text = printed(msgspec.structs.replace(document, run=replace(document.run, guards=(guard,))))
    assert message in " ".join(text.split())
