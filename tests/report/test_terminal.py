"""Terminal output during a run."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rocketdiff.core import events
from rocketdiff.core.answers.verdict import CheckResult, Verdict
from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.report.terminal import TerminalListener

CASE = "fault-latency/pause-one-of-two/java:4.7.1~java:5.3.3"
PAUSED = FaultRecord(1, FaultKind.PAUSE, "broker-b", 1, 2, 3)
RUN: tuple[events.Event, ...] = (
    events.RunStarted(
        "r1", 7, "quick", SubjectId("java", "4.7.1"), SubjectId("java", "5.3.3"), (CASE,), 10, Path("runs/r1")
    ),
    events.ClusterStarted("two-masters", "processes", "5.3.3"),
    events.ClusterReady("two-masters", "processes", "5.3.3", ("broker-a", "broker-b"), ("name-server-1",), 4.87),
    events.CaseStarted(1, CASE, 450, 1, 9.0),
    events.ArmsStarted(1, 3.2),
    events.OperationsEnded(1, BASELINE, 120),
    events.FaultInjected(1, PAUSED),
    events.OperationsEnded(1, CANDIDATE, 131),
    events.FaultHealed(1, PAUSED),
    events.MemberLost(1, CANDIDATE, "subject.died", "exit code 134 [core dumped]"),
    events.ReadBackStarted(1),
    events.CaseEnded(1, CASE, ClientRole.PRODUCER, 450, 171, 12.25),
    events.ClusterClosed("two-masters"),
    events.AnalysisStarted(1, 2),
    events.CheckJudged(CheckResult(CASE, "loss", Verdict.CONFORMS)),
    events.CheckJudged(CheckResult(CASE, "queue-choice", Verdict.DIVERGES)),
    events.ReportWritten((("html", Path("runs/r1/report.html")),)),
    events.RunEnded("r1", 1, "VERDICT …", 21.0),
)


def shown(happened: tuple[events.Event, ...], *, terminal: bool = False) -> str:
    out = StringIO()
    listener = TerminalListener(Console(file=out, width=100, force_terminal=terminal))
    for event in happened:
        listener.on_event(event)
    listener.close()
    return out.getvalue()


def test_on_a_pipe_there_is_one_line_for_what_is_worth_keeping() -> None:
    """On a pipe only important events are printed, without bars, colour or pair names."""
    assert shown(RUN).splitlines() == [
        "java:4.7.1 against java:5.3.3: suite quick, 1 case, 10 checks, seed 7",
        "run directory runs/r1",
        "✓ two-masters ready in 4.9 s: 1 name server, 2 brokers 5.3.3",
        "  ✗ candidate lost: subject.died: exit code 134 [core dumped]",
        "✓ fault-latency/pause-one-of-two  450 + 171 sends, 12.2 s",
        "  ✗ diverges: fault-latency/pause-one-of-two queue-choice",
    ]


def test_on_a_terminal_the_running_case_and_the_fault_are_seen() -> None:
    """On a terminal a bar counts both arms' sends, and a paused broker is shown."""
    text = shown(RUN, terminal=True)
    assert "251/900" in text
    assert "broker-b paused" in text
    assert "broker-b resumed" in text


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("cut", range(len(RUN)))
def test_a_run_may_end_anywhere(cut: int, *, terminal: bool) -> None:
    """The listener can be closed after any prefix of events."""
    assert shown(RUN[:cut], terminal=terminal) is not None


@pytest.mark.parametrize("skipped", range(len(RUN)))
def test_no_event_needs_another_one_before_it(skipped: int) -> None:
    """Events may come without earlier ones, because a stored run has no cluster and cases."""
    assert shown(RUN[skipped:]) is not None
