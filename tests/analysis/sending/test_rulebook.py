"""The rules that judge a case of literal tables."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.sending.steps import rulebook
from rocketdiff.analysis.sending.steps.rulebook import ArmRules, is_asynchronous, reports_causes, rulebook_for
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.traces.manifest import LONGEST_STALL, ArmSummary
from tests.analysis.builders import MS, S, made
from tests.analysis.trace_builders import BASELINE, CANDIDATE, SLOW, SMALL, tallies_of, trace, whole_trace


@pytest.mark.parametrize(("subject", "is_ruled"), [("java:5.3.3", True), ("python:5.3.3", True), ("cpp:2.1.0", False)])
def test_the_rules_are_those_of_the_baselines_release(subject: str, is_ruled: bool) -> None:
    """The baseline's release gives the rules; without rules both arms record the reason."""
    case = whole_trace(subjects={BASELINE: subject, CANDIDATE: "cpp:2.1.0"})
    book = rulebook_for(case)
    assert (book.missing == "", set(book.rules), book.may_leave_open is not None) == (
        is_ruled,
        set(Arm) if is_ruled else set(),
        is_ruled,
    )
    why = f"unavailable: no rules are known for the baseline {subject}: name a Java client or the reference first"
    arms = {key[1] for key in tallies_of(case) if key[0] == "rules" and key[3] == why}
    assert arms == (set() if is_ruled else {"baseline", "candidate"})
    if is_ruled:
        assert {rules.release for rules in book.rules.values()} == {"5.3.3"}


def test_an_unknown_release_has_no_rules() -> None:
    """An unknown release has no rules, for the oracle's reason; clients of a proxy need none, and no timeout closes."""
    book = rulebook_for(whole_trace(subjects={BASELINE: "java:1.0.0", CANDIDATE: "java:1.0.0"}))
    assert (book.rules, book.habits, book.timeouts_close) == ({}, NO_HABITS, True)
    assert "1.0.0" in book.missing
    behind_a_proxy = rulebook_for(whole_trace(entry=replace(SMALL, topology="two-masters-proxy")))
    assert (behind_a_proxy.rules, behind_a_proxy.missing, behind_a_proxy.timeouts_close) == ({}, "", False)


@pytest.mark.parametrize(
    ("release", "closes", "leaves", "habits"),
    [
        ("4.2.0", False, (False, False), AsyncHabits(False, 1, True)),
        ("4.9.8", True, (False, False), AsyncHabits(False, 1, False)),
        ("5.3.0", True, (False, False), AsyncHabits(False, 3, False)),
        ("5.3.3", True, (False, True), AsyncHabits(False, 2, False)),
        ("5.5.0", True, (True, True), AsyncHabits(False, 1, False)),
    ],
)
def test_rules_of_connections_and_callbacks(
    release: str, closes: bool, leaves: tuple[bool, bool], habits: AsyncHabits
) -> None:
    """Rules of a release: whether a timeout closes the connection, which errors may leave it open, callback habits."""
    book = rulebook_for(whole_trace(subjects=dict.fromkeys(Arm, f"java:{release}")))
    assert (book.timeouts_close, book.habits) == (closes, habits)
    assert book.may_leave_open is not None
    assert tuple(map(book.may_leave_open, (SLOW, "RemotingConnectException"))) == leaves


@pytest.mark.parametrize(("threads", "latency", "shared"), [(1, True, False), (2, True, True), (2, False, False)])
def test_threads_share_a_table_where_there_is_one(threads: int, latency: bool, shared: bool) -> None:
    """Several threads share state only with fault latency on."""
    settings = ClientSettings(send_latency_fault_enable=latency)
    book = rulebook_for(whole_trace(entry=replace(SMALL, threads=threads, settings=settings)))
    assert {one.shared for one in book.rules.values()} == {shared}


@pytest.mark.parametrize(
    ("release", "threads", "latency", "rewrites", "renames"),
    [
        ("4.9.7", 2, True, True, True),
        ("4.9.7", 1, True, False, False),
        ("4.9.7", 2, False, False, False),
        ("4.9.8", 2, True, False, False),
        ("5.1.3", 2, True, True, False),
        ("5.3.3", 2, True, False, False),
    ],
)
def test_threads_rewrite_a_list_that_they_share(
    release: str, threads: int, latency: bool, rewrites: bool, renames: bool
) -> None:
    """Up to 5.1.3, except in 4.9.8, a fallback rewrites a shared list; up to 4.9.8 a result reads its broker again."""
    settings = ClientSettings(send_latency_fault_enable=latency)
    entry = replace(SMALL, threads=threads, settings=settings)
    book = rulebook_for(whole_trace(entry=entry, subjects=dict.fromkeys(Arm, f"java:{release}")))
    assert (book.rewrites, book.renames) == (rewrites, renames)


def test_a_replay_knows_when_the_wall_clock_was_stepped() -> None:
    """A step by 6 ms between two samples."""
    clock = ClockAnchor(0, 0, ((S, 0), (2 * S, 6 * MS)))
    case = trace(replace(SMALL, clock=clock))
    assert rulebook_for(case).rules[CANDIDATE].fresh().transitions.steps == ((S, 2 * S),)
    for unstepped in (None, ClockAnchor(0, 0)):
        steady = trace(replace(SMALL, clock=unstepped))
        assert rulebook_for(steady).rules[CANDIDATE].fresh().transitions.steps == ()


def test_rules_may_be_given() -> None:
    """The rules that a run names take the place of its baseline's."""
    case = replace(trace(subjects=dict.fromkeys(Arm, "cpp:2.1.0")), rules_given="4.9.8")
    assert {rules.release for rules in rulebook_for(case).rules.values()} == {"4.9.8"}
    assert {rules.release for rules in rulebook_for(replace(trace(), rules_given="4.9.8")).rules.values()} == {"4.9.8"}


def test_sends_of_threads_that_share_a_table_are_judged_in_order_of_their_start() -> None:
    """Each send has a judgement."""
    sends = [made(CANDIDATE, n, start_ns=at_ns, end_ns=at_ns + 1).row for n, at_ns in ((0, 9), (1, 5))]
    judged = ArmRules(trace(), CANDIDATE, "5.3.3", shared=True).judge_together([one for one in sends if one])
    assert [one.send for one in judged] == [1, 0]


MODES = [{"send": 0, "mode": "async"}, {"send": 1, "mode": "async"}]


@pytest.mark.parametrize(
    ("tables", "is_async"),
    [
        ({"sends": MODES}, True),
        ({"sends": [{"send": 0}]}, False),
        ({"sends": [{"send": 0, "mode": "async"}, {"send": 1}]}, True),
        ({"sends": [{"send": 0, "mode": "oneway"}]}, False),
        ({"sends_baseline": [], "sends_candidate": MODES}, True),
        ({"sends_candidate": MODES}, True),
        ({}, False),
    ],
)
def test_whether_a_case_is_asynchronous(tables: dict[str, Any], is_async: bool) -> None:
    """A case is asynchronous if its first send is, in either arm."""
    case = trace(**tables)
    assert is_asynchronous(case) is is_async
    assert {one.asynchronous for one in rulebook_for(case).rules.values()} == {is_async}


@pytest.mark.parametrize(
    ("subject", "capabilities", "reports"),
    [
        ("java:5.3.3", (), True),
        ("python:5.3.3", None, True),
        ("cpp:2.1.0", (), False),
        ("cpp:2.1.0", None, False),
        ("cpp:2.1.0", ("attempts",), False),
        ("go:2.1.0", ("attempts", "causes"), True),
    ],
)
def test_causes_are_reported_by_javas_driver_and_by_who_claims_it(
    subject: str, capabilities: tuple[str, ...] | None, reports: bool
) -> None:
    """Java's driver and the reference always report causes, others if they declare it."""
    arms = {} if capabilities is None else {CANDIDATE: ArmSummary(1, 1, 0, True, capabilities=capabilities)}
    case = trace(replace(SMALL, arms=arms), {BASELINE: "java:5.3.3", CANDIDATE: subject})
    assert reports_causes(case, CANDIDATE) is reports
    assert rulebook_for(case).rules[CANDIDATE].fresh().transitions.causes_reported is reports


def rules(release: str = "5.3.3", witness: str | None = None, latency: bool = False, **tables: Any) -> ArmRules:
    arms = {} if witness is None else {CANDIDATE: ArmSummary(1, 1, 0, True, witness=witness)}
    entry = replace(SMALL, arms=arms, settings=ClientSettings(send_latency_fault_enable=latency))
    return ArmRules(trace(entry, **tables), CANDIDATE, release, shared=False)


@pytest.mark.parametrize(
    ("witness", "release", "is_unseen"),
    [(None, "5.3.3", False), ("client", "5.3.3", False), ("wire", "5.3.3", True), ("wire", "4.2.0", False)],
)
def test_the_wire_does_not_show_which_thread_chose(witness: str | None, release: str, is_unseen: bool) -> None:
    """The wire does not show which thread chose, except the application's own (up to 4.2.0)."""
    sending = rules(release, witness, sends=MODES).sending()
    assert sending is not None
    assert sending.is_chooser_unseen is is_unseen


def test_the_mode_decides_which_choices_are_knowable() -> None:
    """The first send's mode, call and fault latency decide what can be known."""
    row = {"send": 0, "mode": "oneway", "kind": "queue"}
    sending = rules(latency=True, sends=[row]).sending()
    assert sending is not None
    assert (sending.mode, sending.call, sending.fault_latency) == (SendMode.ONEWAY, SendKind.QUEUE, True)
    old = rules(sends=[{"send": 0}]).sending()
    assert old is not None
    assert (old.mode, old.call, old.fault_latency) == (SendMode.SYNC, SendKind.PLAIN, False)
    first = rules(sends=[row, {"send": 1, "mode": "async"}]).sending()
    assert first is not None
    assert (first.mode, first.call) == (SendMode.ONEWAY, SendKind.QUEUE)
    assert rules().sending() is rules(sends=[]).sending() is None


def test_unknowable_sends_are_counted_by_check() -> None:
    """With fault latency the queue of asynchronous sends is unknowable, which both arms count."""
    sends = [{"send": 0, "mode": "async", "returned_ns": 1, "callbacks": 1}]
    entry = replace(SMALL, settings=ClientSettings(send_latency_fault_enable=True))
    tallies = tallies_of(trace(entry, sends=sends, attempts=[{"send": 0, "chooser": 0}], routes=[{}]))
    reasons = {(key[0], key[1]) for key in tallies if key[0].startswith("unknowable: ")}
    assert reasons == {("unknowable: queue-choice", arm) for arm in ("baseline", "candidate")}


def test_a_replay_knows_whether_attempts_were_witnessed() -> None:
    """A replay is witnessed if its own arm has an attempt."""
    for tables, wanted in (
        ({}, False),
        ({"attempts_candidate": []}, False),
        ({"attempts_candidate": [{"send": 0}]}, True),
        ({"attempts_baseline": [{"send": 0}]}, False),
    ):
        assert rules(**tables).fresh().witnessed is wanted


FAILED = {
    "send": 0,
    "start_ns": S,
    "end_ns": 3 * S // 2,
    "error": SLOW,
    "status": None,
    "outcome": "unknown",
    "reason": "timeout",
}


def test_torn_connections_are_read_off_the_arms_own_trace() -> None:
    """Torn and held connections come from the arm's own trace, the excuse of lateness from the other's."""
    other = FAILED | {"end_ns": 5 * S + 700 * MS, "broker": "broker-b"}
    case = trace(attempts_candidate=[FAILED], attempts_baseline=[other])
    for arm, broker in ((CANDIDATE, "broker-a"), (BASELINE, "broker-b")):
        torn = ArmRules(case, arm, "5.3.3", shared=False).torn_connections()
        found = [one for one in ("broker-a", "broker-b") if torn.may_have_torn(9, one, S, 9 * S)]
        assert found == [broker]
    assert ArmRules(case, CANDIDATE, "5.3.3", shared=False).excuses().late_ms == 4_200
    assert ArmRules(case, BASELINE, "5.3.3", shared=False).excuses().late_ms == 0
    stalled = replace(case, entry=replace(case.entry, measured={LONGEST_STALL: 30 * MS}))
    assert ArmRules(stalled, BASELINE, "5.3.3", shared=False).excuses().late_ms == 30
    held = trace(attempts_candidate=[{"send": 0}])
    assert ArmRules(held, CANDIDATE, "5.3.3", shared=False).excuses().held.is_held("broker-a", 2 * MS, 3 * MS)
    assert not ArmRules(held, BASELINE, "5.3.3", shared=False).excuses().held.is_held("broker-a", 2 * MS, 3 * MS)


Troubled = Callable[[str | None, int, int], bool]


def troubled_of(monkeypatch: pytest.MonkeyPatch, case: CaseTrace) -> Troubled:
    """The candidate's faults and connections as passed to the oracle of asynchronous sends."""
    heard: list[Troubled] = []

    def judge(_replay: object, _sends: object, troubled: Troubled, *, choosers_reported: bool) -> list[SendJudgement]:
        assert choosers_reported
        heard.append(troubled)
        return []

    monkeypatch.setattr(rulebook, "judge_asynchronous", judge)
    assert list(ArmRules(case, CANDIDATE, "5.3.3", shared=False, asynchronous=True).judge_together([])) == []
    return heard[0]


@pytest.mark.parametrize(
    ("kind", "broker", "start_ns", "is_troubled"),
    [
        ("pause", "broker-b", 11 * S, True),
        ("pause", "broker-b", S, False),
        ("pause", "broker-a", 11 * S, False),
        ("pause", None, 11 * S, False),
        ("kill", None, 11 * S, True),
        ("kill", None, S, False),
        ("flow-control", "broker-b", 11 * S, False),
    ],
)
def test_who_is_troubled_by_a_fault(
    kind: str, broker: str | None, start_ns: int, is_troubled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault affects requests at its broker; requests without a broker only if it cuts connections."""
    troubled = troubled_of(monkeypatch, trace(faults=[{"kind": kind}]))
    assert troubled(broker, start_ns, start_ns + MS) is is_troubled


def test_who_is_troubled_by_a_torn_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout affects every request of its arm at that broker within a second."""
    timed_out: dict[str, Any] = FAILED | {"thread": 2}
    troubled = troubled_of(
        monkeypatch, trace(attempts_candidate=[timed_out], attempts_baseline=[timed_out | {"broker": "broker-b"}])
    )
    asked = [("broker-a", 2 * S), ("broker-a", 3 * S), ("broker-b", 2 * S), (None, 2 * S)]
    assert [troubled(broker, at_ns, at_ns + MS) for broker, at_ns in asked] == [True, False, False, False]
