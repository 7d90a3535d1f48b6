"""Lint finds entries that can never match, are too old, too many, or unfinished."""

from dataclasses import replace
from datetime import date

import pytest

from rocketdiff.ledger.file import ParsedFile
from rocketdiff.ledger.lint import KnownCheck, Level, lint
from rocketdiff.ledger.matching import checks_until_stale, frequency_of
from rocketdiff.ledger.model import Conditions, Entry, EntryState, ExpectedRate, Party, Range
from tests.ledger.ledger_entries import ENTRY, entry

KNOWN = [
    KnownCheck(f"latency/pause-one/{check}", {"send_latency_fault_enable": True}, {"paused_brokers": 1})
    for check in ("avoidance", "loss", "validity")
]
SUBJECTS = {"java": ("4.7.1", "5.3.3"), "cpp": ()}
DAY = date(2026, 11, 21)


def found(*entries: Entry, ratchet: int | None = None, growth: bool = False, day: date = DAY) -> list[tuple[str, str]]:
    file = ParsedFile("own.yaml", entries, ratchet)
    return [(one.level.value, one.said) for one in lint([file], KNOWN, SUBJECTS, day, allow_growth=growth)]


def test_a_sound_entry_is_not_mentioned() -> None:
    """A sound entry has no finding."""
    assert found(ENTRY, ratchet=1) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            entry(check="latency/pause-one/avoidence"),
            "no scenario has a check latency/pause-one/avoidence; close: latency/pause-one/avoidance",
        ),
        (entry(check="nothing/**"), "no scenario has a check nothing/**"),
        (entry(check="**/validity"), "no scenario has a check"),
        (
            entry(when=replace(ENTRY.when, faults=(("paused_brokers", Range.parse(">=2")),))),
            "none of the 1 checks that latency/*/avoidance names meets the conditions on fault, settings and consumer",
        ),
        (
            entry(when=replace(ENTRY.when, members=Range.parse(">=2"))),
            "none of the 1 checks that latency/*/avoidance names meets the conditions on fault, settings and consumer",
        ),
        (entry(when=Conditions(Party("jav"))), "no client jav; known: cpp, java"),
        (entry(when=Conditions(Party("java", Range.parse(">=9")))), "no known release of java is in >=9"),
        (entry(when=Conditions(Party("java"), Party("javaa"))), "no client javaa"),
    ],
)
def test_an_entry_that_could_never_match_is_an_error(wrong: Entry, message: str) -> None:
    """An entry that can never match is an error, because it only looks like protection."""
    ((level, text),) = found(wrong)
    assert level == "error"
    assert text.startswith(f"K16: {message}")


def test_a_client_of_the_users_is_only_pointed_out() -> None:
    """An unknown client is only a warning: a program of the user's states its own name."""
    ((level, text),) = found(entry(when=Conditions(Party("acme"))))
    assert (level, text) == (
        "warning",
        "K16: no client acme; known: cpp, java; right if it is a program of yours, whose hello says that name",
    )


def test_a_client_of_the_users_is_pointed_out_once_a_file() -> None:
    """An unknown client is reported once a file."""
    ours, theirs = Conditions(Party("acme")), Conditions(Party("java"), Party("zebra"))
    entries = [entry(id=f"K{number}", when=ours) for number in range(16, 29)] + [entry(id="K29", when=theirs)]
    assert [text.partition(";")[0] for _, text in found(*entries)] == [
        "K16 and 12 more: no client acme",
        "K29: no client zebra",
    ]
    one, other = (ParsedFile(name, (entry(when=ours),), None) for name in ("own.yaml", "other.yaml"))
    assert len(lint([one, other], KNOWN, SUBJECTS, DAY, allow_growth=False)) == 2


def test_a_client_without_known_releases_may_have_any() -> None:
    """A client without known releases may have any release, which its program states."""
    assert found(entry(when=Conditions(Party("cpp", Range.parse(">=2.1.0"))))) == []


@pytest.mark.parametrize(("day", "level"), [(date(2027, 5, 2), "warning"), (date(2027, 7, 1), "error")])
def test_an_expired_entry_warns_then_fails(day: date, level: str) -> None:
    """An entry that expired on 2027-05-01 first warns, then fails."""
    ((seen, text),) = found(ENTRY, day=day)
    assert (seen, text.startswith("K16 expired on 2027-05-01")) == (level, True)


def lint_of_rate(low: float, check: str = ENTRY.check) -> list[tuple[str, str]]:
    return found(entry(rate=ExpectedRate(low, 1.0), check=check))


@pytest.mark.parametrize(
    ("low", "needed"),
    # 0 in 2 leaves up to 1 - 0.025^(1/2) = 0.842; ln 0.025 / ln 0.84 = 21.2; ln 0.025 / ln 0.99 = 367.04
    [(0.84, 3), (0.16, 22), (0.01, 368)],
)
def test_a_rate_that_no_run_can_contradict_is_a_note(low: float, needed: int) -> None:
    """A rate that a single check cannot contradict is a warning."""
    ((level, text),) = lint_of_rate(low)
    assert level == "warning"
    assert text.startswith(
        f"K16: no single run can find it stale: with a rate from {low:g} that takes {needed} decisive"
    )
    assert "a run has 1; judge several" in text


def test_a_rate_that_one_run_can_contradict_is_not_mentioned() -> None:
    """A rate that one run can contradict has no finding: 0 in 1 leaves up to 97.5 %, 0 in 2 up to 84.2 %."""
    assert lint_of_rate(0.98) == []
    assert lint_of_rate(0.85) != []
    assert lint_of_rate(0.85, "latency/*/*") == []


def test_a_rate_that_begins_at_nothing_is_never_stale() -> None:
    """A rate from 0 is a warning, because no number of checks contradicts it."""
    ((level, text),) = lint_of_rate(0.0)
    assert (level, text.startswith("K16: its rate begins at 0")) == ("warning", True)


@pytest.mark.parametrize("low", [0.01, 0.16, 0.29, 0.5, 0.9])
def test_the_number_of_checks_is_the_one_at_which_an_entry_becomes_stale(low: float) -> None:
    """The computed number of checks is the first at which judging calls the entry stale."""
    rate = ExpectedRate(low, 1.0)
    needed = checks_until_stale(rate)
    assert needed is not None
    assert frequency_of(rate, seen=0, decisive=needed).state is EntryState.STALE
    assert frequency_of(rate, seen=0, decisive=needed - 1).state is not EntryState.STALE


def test_more_entries_than_the_ratchet_need_a_flag() -> None:
    """More entries than the ratchet are an error, unless growth is allowed."""
    two = (ENTRY, entry(id="K17"))
    ((level, text),) = found(*two, ratchet=1)
    assert (level, text.startswith("2 entries, and its ratchet is 1")) == ("error", True)
    assert found(*two, ratchet=1, growth=True)[0][0] == "warning"


def test_fewer_entries_than_the_ratchet_lower_it() -> None:
    """Fewer entries than the ratchet are a warning to lower it."""
    assert found(ENTRY, ratchet=2) == [("warning", "1 of 2 entries are left: lower its ratchet")]


def test_a_proposal_is_a_warning() -> None:
    """A proposal is a warning, because it declares nothing."""
    assert found(entry(proposed=True)) == [("warning", "K16 is only proposed: edit it, or remove it")]


def test_a_finding_stands_where_its_entry_stands() -> None:
    """A finding has its entry's file and line."""
    (finding,) = lint([ParsedFile("own.yaml", (entry(owner=""),), None)], KNOWN, SUBJECTS, DAY, allow_growth=False)
    assert (finding.level, finding.place) == (Level.WARNING, "own.yaml line 4")
