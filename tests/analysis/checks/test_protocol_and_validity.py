"""``protocol`` and ``validity``: what the runner and the journal's reader found, as evidence."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.manifest import Breach, stamped
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Story, Told, faults_of

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

CALM = Story(name="calm", pauses=(), sends=40)


def signatures(evidence: Evidence) -> list[tuple[str, str]]:
    return [(one.subject, one.signature) for one in evidence.divergences]


def test_a_second_answer_is_a_divergence(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A second answer diverges; the first stands, so other checks go on."""

    def twice(told: Told) -> None:
        told.sends.insert(4, told.sends[3])

    evidence = evidence_of(new_run([CALM], change=twice))
    assert signatures(evidence["calm", "protocol"]) == [("python:5.3.3", "protocol.answered-twice")]
    assert evidence["calm", "queue-choice"].standing is Standing.DECISIVE


def test_an_answer_to_an_unplanned_send_is_a_divergence(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """An answer to send 4,711, which was not planned, diverges."""

    def invent(told: Told) -> None:
        told.sends.append(replace(told.sends[0], send=4_711))

    evidence = evidence_of(new_run([CALM], change=invent))["calm", "protocol"]
    assert signatures(evidence) == [("python:5.3.3", "protocol.unknown-send")]


def test_missing_answers_are_counted(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Ten missing answers are counted if no breach is recorded."""

    def stop(told: Told) -> None:
        told.sends = told.sends[:30]

    (divergence,) = evidence_of(new_run([CALM], change=stop))["calm", "protocol"].divergences
    assert (divergence.signature, divergence.count) == ("protocol.incomplete", 10)


def test_a_breach_is_a_divergence_and_nothing_else_conforms(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """If the candidate died, ``protocol`` diverges, and no other check conforms by what it did before."""

    def die(told: Told) -> None:
        told.sends = told.sends[:20]
        told.attempts = told.attempts[:21]

    run = new_run([CALM], change=die)
    run.case(1).lost(CANDIDATE, Breach("protocol.died", "a living subject", "exit code 137"))
    evidence = evidence_of(run)
    assert signatures(evidence["calm", "protocol"]) == [("python:5.3.3", "protocol.died")]
    for check in ("queue-choice", "loss", "duplication"):
        assert evidence["calm", check].standing is Standing.INDECISIVE
        assert evidence["calm", check].reason == "python:5.3.3 broke off"


def test_a_broken_guard_makes_the_case_invalid(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A broken guard makes ``validity`` invalid, and the case's outages join no pool."""
    story = Story(sends=200)
    run = new_run([story], complete=False)
    run.case(1).complete(guards=(Guard("start-spread", held=False, expected="at most 50 ms", seen="70 ms"),))
    evidence = evidence_of(run)
    validity = evidence[story.name, "validity"]
    assert (validity.standing, validity.reason) == (
        Standing.INVALID,
        "start-spread: expected at most 50 ms, saw 70 ms",
    )
    assert evidence["pooled/pause/fault-latency-on", "timing"].samples[0].pairs == ()


@pytest.mark.parametrize("name", ["cluster", "fault-2", "read-back", "clock-steady", "started-together", "control"])
def test_a_broken_cluster_guard_makes_every_check_but_the_protocol_invalid(
    new_run: NewRun, evidence_of: EvidenceOf, name: str
) -> None:
    """With a broken guard of the cluster no difference is a client's, so only ``protocol`` decides."""
    run = new_run([CALM], complete=False)
    run.case(1).complete(guards=(Guard(name, held=False, expected="a sound cluster", seen="broker-b died by itself"),))
    evidence = evidence_of(run)
    for check in (*CALM.checks, "validity"):
        assert evidence["calm", check].standing is Standing.INVALID, check
        assert evidence["calm", check].reason == f"{name}: expected a sound cluster, saw broker-b died by itself"
    assert evidence["calm", "protocol"].standing is Standing.DECISIVE


def test_two_stories_of_the_attempts_make_what_rests_on_them_invalid(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """If client and wire contradict each other, checks of attempts are invalid, the others are not."""
    run = new_run([CALM], complete=False)
    run.case(1).complete(guards=(Guard("witness-candidate", held=False, expected="one story", seen="9 sends differ"),))
    evidence = evidence_of(run)
    for check in ("queue-choice", "attempts", "avoidance", "error-kind", "duplication"):
        assert evidence["calm", check].standing is Standing.INVALID, check
        assert evidence["calm", check].reason == "witness-candidate: expected one story, saw 9 sends differ"
    for check in ("loss", "protocol"):
        assert evidence["calm", check].standing is Standing.DECISIVE, check


@pytest.mark.parametrize("name", ["awake-machine", "awake-candidate"])
def test_a_machine_or_a_client_that_was_stopped_makes_the_protocol_invalid_too(
    new_run: NewRun, evidence_of: EvidenceOf, name: str
) -> None:
    """A client stopped from outside looks stalled, so ``protocol`` is invalid too."""
    run = new_run([CALM], complete=False)
    run.case(1).lost(CANDIDATE, Breach("protocol.stalled", "an answer", "silence in stage RUNNING"))
    run.case(1).complete(guards=(Guard(name, held=False, expected="a running one", seen="stopped for 9 s"),))
    evidence = evidence_of(run)
    for check in (*CALM.checks, "validity", "protocol"):
        assert evidence["calm", check].standing is Standing.INVALID, check
    assert evidence["calm", "protocol"].reason == f"{name}: expected a running one, saw stopped for 9 s"


@pytest.mark.parametrize(
    ("breach", "standing"),
    [
        (Breach("protocol.failed", "the subject to go on", "warm-up: RemotingTimeoutException"), Standing.INVALID),
        (Breach("protocol.failed", "the subject to go on", "setup: No route info of this topic"), Standing.INVALID),
        (Breach("protocol.failed", "the subject to go on", "setup: NoSuchFieldError: tried"), Standing.DECISIVE),
        (Breach("protocol.stalled", "ready within 60 s", "silence in stage PREPARING"), Standing.INVALID),
        (Breach("protocol.failed", "the subject to go on", "sends: NullPointerException"), Standing.DECISIVE),
        (Breach("protocol.died", "a living subject", "exit code 137 in stage PREPARING"), Standing.DECISIVE),
    ],
)
def test_a_client_that_was_never_ready_shows_nothing(
    new_run: NewRun, evidence_of: EvidenceOf, breach: Breach, standing: Standing
) -> None:
    """A client that is not ready in time, on a busy machine, shows nothing; one that dies or fails otherwise is a result."""

    def silence(told: Told) -> None:
        told.sends, told.attempts = [], []

    run = new_run([CALM], change=silence)
    run.case(1).lost(CANDIDATE, breach)
    assert evidence_of(run)["calm", "protocol"].standing is standing


UNREADY = Breach("protocol.stalled", "ready within 60 s", "silence in stage PREPARING")


@pytest.mark.parametrize(
    ("baseline", "standing"),
    [
        (Breach("protocol.died", "a living subject", "exit code 134 in stage SENDING"), Standing.DECISIVE),
        (Breach("protocol.failed", "the subject to go on", "setup: NoSuchFieldError: tried"), Standing.INVALID),
    ],
)
def test_an_arm_that_was_never_ready_does_not_hide_the_others_end(
    new_run: NewRun, evidence_of: EvidenceOf, baseline: Breach, standing: Standing
) -> None:
    """An arm that was never ready does not hide the other's death; two that could not start are invalid."""
    run = new_run([CALM])
    run.case(1).lost(CANDIDATE, UNREADY)
    run.case(1).lost(BASELINE, baseline)
    assert evidence_of(run)["calm", "protocol"].standing is standing


def test_a_broken_guard_of_one_arm_leaves_the_other_checks_alone(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A late arm makes only ``validity`` invalid: the cluster was as planned."""
    run = new_run([CALM], complete=False)
    run.case(1).complete(guards=(Guard("on-schedule-candidate", held=False, expected="250 ms", seen="900 ms"),))
    evidence = evidence_of(run)
    assert evidence["calm", "validity"].standing is Standing.INVALID
    assert evidence["calm", "queue-choice"].standing is Standing.DECISIVE


def test_a_pause_that_was_never_shown_is_invalid(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A pause that the injector could not prove makes ``validity`` invalid."""
    run = new_run(complete=False)
    case = run.case(1)
    for fault in faults_of(Story()):
        case.write_fault(replace(fault, proven_ns=None))
    run.case(1).seal()
    case.complete()
    evidence = evidence_of(run)[Story().name, "validity"]
    assert evidence.standing is Standing.INVALID
    assert evidence.reason == "pause of broker-b in episode 1 was never shown to be in effect"


def test_a_case_that_never_began_is_invalid_throughout(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """All checks of a case are invalid if the runner was killed before it."""
    run = new_run([CALM, replace(CALM, name="later")])
    spoilt = (run.path / "run.json").read_text()
    head, tail = spoilt.rsplit('"complete"', 1)
    (run.path / "run.json").write_bytes(stamped(json.loads(head + '"planned"' + tail)))
    evidence = evidence_of(RunDirectory.open(run.path))
    assert {evidence["later", check].standing for check in (*CALM.checks, "protocol", "validity")} == {Standing.INVALID}
