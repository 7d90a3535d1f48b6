"""Decisions and measures that checks report besides divergences."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.stories import ASYNC, DELAYED, EXACT, ONEWAY, PLAIN, TO_QUEUE
from tests.analysis.synthetic_modes import HALF_A_SECOND, ModeStory

EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]
Found = Callable[..., dict[str, Evidence]]
Figures = Mapping[str, tuple[int, tuple[tuple[str, float, float], ...]]]
"""By check: decisions, and (name, baseline, candidate) of each measure."""

ARMS = ("baseline", "candidate")

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


@pytest.fixture
def found(new_run: Callable[..., RunDirectory], evidence_of: EvidenceOf) -> Found:
    """Evidence by check for two faithful clients."""

    def judged(story: ModeStory, release: str = "5.3.3") -> dict[str, Evidence]:
        run = new_run([story], baseline=f"java:{release}", candidate=f"python:{release}")
        return {check: one for (_, check), one in evidence_of(run).items()}

    return judged


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
    assert not any(one.divergences for one in evidence.values())


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
    counted: Mapping[str, tuple[int, Mapping[str, Any]]] = {
        "attempts": (20, {"failed-attempts": 5, "not-store-ok": 0, "retries": 5}),
        "queue-choice": (410, {}),
        "loss": (400, {"ghosts": 0, "stored-late": 5, "foreign-messages": 0}),
        "duplication": (400, {"stored-more-than-once": 5}),
        "content": (400, {"messages-compared": 200}),
        "outcomes": (
            200,
            {"sends-stored-twice": 5, "sends-failed-at-first": 5, "99th-percentile-in-calm": pytest.approx(1.02)},
        ),
        "validity": (1, {}),
    }
    for check, (decisions, measures) in counted.items():
        assert evidence[check].decisions == decisions, check
        assert figures(evidence[check]) == {f"{name} {arm}": n for name, n in measures.items() for arm in ARMS}, check
    assert figures(evidence["timing"]) == {f"blocked-send-duration {arm}": pytest.approx(504.02) for arm in ARMS}
