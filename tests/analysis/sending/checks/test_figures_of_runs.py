"""Decisions and measures that checks report besides divergences."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.sending.bank import BANK
from tests.analysis.stories import ASYNC, DELAYED, EXACT, ONEWAY, PLAIN, TO_QUEUE, Found, signatures
from tests.analysis.synthetic import ArmRecords
from tests.analysis.synthetic_modes import HALF_A_SECOND, ModeStory

Figures = Mapping[str, tuple[int, tuple[tuple[str, float, float], ...]]]
"""By check: decisions, and (name, baseline, candidate) of each measure."""

STORIES: Mapping[str, ModeStory] = {
    "async": replace(ASYNC, pauses=(), sends=60),
    "to a queue": replace(TO_QUEUE, pauses=(), sends=60),
    "delayed": replace(DELAYED, pauses=(), sends=60),
    "one-way": replace(ONEWAY, sends=200, every_ms=20),
}

CALM = {
    "queue-choice": (120, ()),
    "loss": (120, (("ghosts", 0, 0), ("stored-late", 0, 0), ("foreign-messages", 0, 0))),
    "duplication": (120, (("stored-more-than-once", 0, 0),)),
    "content": (120, (("messages-compared", 60, 60),)),
    "outcomes": (60, ()),
    "protocol": (120, (("answered-sends", 60, 60),)),
    "validity": (0, ()),
}
"""60 sends in each arm, all stored at once."""

WANTED: Mapping[str, Figures] = {
    "async": CALM | {"callbacks": (120, (("called-back", 60, 60), ("never-called-back", 0, 0)))},
    "to a queue": CALM | {"order": (114, (("neighbours-compared", 57, 57),))},
    "delayed": CALM | {"delay": (120, (("delivered", 60, 60), ("delivered-late-by", 2.0, 2.0)))},
    "one-way": {
        # The pause begins at 2.5 s. Of the sends every 20 ms, 75 of each arm ended over a second before. Of the 250 later ones of
        # both arms, half went to the broker that was not paused.
        "loss": (275, (("ghosts", 0, 0), ("foreign-messages", 0, 0), ("one-way-stored", 200, 200))),
        "protocol": (400, (("answered-sends", 200, 200),)),
        "validity": (1, ()),
    },
}


def figures(one: Evidence) -> dict[str, float]:
    return {measure.name: measure.value for measure in one.measures}


@pytest.mark.parametrize("story", STORIES)
def test_figures_of_a_quiet_case(story: str, found: Found) -> None:
    """
    60 sends per arm are 120 decisions, three lanes of 60 have 57 neighbours, and a delivery is 2 ms late.

    Nothing fails, so ``attempts`` and ``error-kind`` do not apply.
    """
    evidence = found(STORIES[story])
    for check, (decisions, measures) in WANTED[story].items():
        one = evidence[check]
        assert (one.standing, one.decisions, one.severity) == (Standing.DECISIVE, decisions, Severity.MUST), check
        wanted = {f"{name} {arm}": value for name, *each in measures for arm, value in zip(ARMS, each, strict=True)}
        assert wanted.items() <= figures(one).items(), check
    assert evidence["attempts"].standing is evidence["error-kind"].standing is Standing.NOT_APPLICABLE
    assert set(figures(evidence["attempts"]).values()) == {0}
    assert not signatures(evidence)


ARMS = ("baseline", "candidate")


def test_measures_have_their_unit_and_their_total(found: Found) -> None:
    """Counts are out of 60 sends; lateness is in ms."""
    evidence = found(STORIES["delayed"])
    units = {
        (measure.name.split()[0], measure.unit, measure.n)
        for check in ("delay", "loss")
        for measure in evidence[check].measures
    }
    assert units == {
        ("delivered", "count", 60),
        ("delivered-late-by", "ms", 60),
        ("ghosts", "count", 60),
        ("stored-late", "count", 60),
        ("foreign-messages", "count", 60),
    }


def test_timeouts_under_a_pause_are_counted(found: Found) -> None:
    """
    In 4.2.0 five of 200 sends per arm time out while broker-b is paused for 3 s.

    Each takes 504.02 ms: 500 ms of timeout, 3 ms until the client notices, 1 ms for the retry's answer, 0.02 ms to return.
    Four sends later the next one meets the broker; the sixth is answered when the broker resumes. Each of the five has two
    attempts, is stored by both brokers (late by the paused one), and is two decisions of ``attempts`` per arm. The sixth is
    another send in each arm, but waits for the paused broker, so its client did not hold it up.
    """
    checks = (*EXACT, "timing", "failover-time")
    evidence = found(replace(PLAIN, sends=200, settings=HALF_A_SECOND, checks=checks), release="4.2.0")
    counted = {
        "attempts": (20, {"failed-attempts": 5, "not-store-ok": 0, "retries": 5}),
        "queue-choice": (410, {}),
        "loss": (400, {"ghosts": 0, "stored-late": 5, "foreign-messages": 0}),
        "duplication": (400, {"stored-more-than-once": 5}),
        "content": (400, {"messages-compared": 200}),
        "outcomes": (200, {"sends-stored-twice": 5, "sends-failed-at-first": 5}),
        "validity": (1, {}),
    }
    for check, (decisions, measures) in counted.items():
        assert evidence[check].decisions == decisions, check
        assert figures(evidence[check]) == {f"{name} {arm}": n for name, n in measures.items() for arm in ARMS}, check
    assert figures(evidence["timing"]) == {f"blocked-send-duration {arm}": pytest.approx(504.02) for arm in ARMS}


@pytest.mark.parametrize(
    ("defect", "story", "check", "signature", "count"),
    [
        ("called-again", "async", "callbacks", "callbacks.called-more-than-once", 6),
        ("never-called-back", "async", "callbacks", "callbacks.never-called", 6),
        ("async-loses", "async", "loss", "loss.acknowledged-not-stored", 6),
        ("not-kept-back", "delayed", "delay", "delay.not-kept-back", 6),
        ("one-way-loses", "one-way", "loss", "loss.one-way-not-stored", 14),
    ],
)
def test_a_defect_of_every_tenth_send_is_counted_so_often(
    defect: str, story: str, check: str, signature: str, count: int, found: Found
) -> None:
    """
    A defect of sends 9, 19, … is counted in six of 60.

    Of one-way sends, seven ended over a second before the pause, and seven later ones went to the healthy broker.
    """
    played = STORIES[story]
    evidence: dict[str, Evidence] = found(played, lambda records: BANK[defect].spoil(records, played))
    (one,) = [each for each in evidence[check].divergences if each.signature == signature]
    assert (one.count, one.subject, one.example.where.number) == (count, "python:5.3.3", 9)


def test_stray_messages_are_counted(
    new_run: Callable[..., RunDirectory], evidence_of: Callable[[RunDirectory], Any]
) -> None:
    """Three stray messages are counted and noted."""

    def strays(records: ArmRecords) -> None:
        records.stored += [replace(records.stored[0], send=None, queue_offset=9_000 + number) for number in range(3)]

    evidence = evidence_of(new_run([STORIES["async"]], change=strays))["mode", "loss"]
    assert figures(evidence)["foreign-messages candidate"] == 3
    assert [(divergence.signature, divergence.count) for divergence in evidence.divergences] == [
        ("loss.stray-message", 3)
    ]
