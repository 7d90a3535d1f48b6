"""``loss`` and ``duplication``: what brokers hold against what the client reported."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Stored, Story, Told
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

NAME = "fault-latency/pause-one-of-two"
CALM = Story(name="calm", pauses=(), sends=40)


def found(evidence: Evidence) -> list[tuple[str, str, int]]:
    return [(one.signature, one.subject, one.count) for one in evidence.divergences]


def measures(evidence: Evidence) -> dict[str, float]:
    return {measure.name: measure.value for measure in evidence.measures}


def test_an_acknowledged_message_that_is_not_stored_is_lost(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Two acknowledged messages in no queue are lost."""

    def lose(told: Told) -> None:
        told.stored = [one for one in told.stored if one.send not in (3, 4)]

    evidence = evidence_of(new_run([CALM], change=lose))["calm", "loss"]
    assert found(evidence) == [("loss.acknowledged-not-stored", "python:5.3.3", 2)]
    assert evidence.divergences[0].example.send == 3


def test_another_body_than_was_sent_is_damage(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A stored message with another body is damaged."""

    def damage(told: Told) -> None:
        told.stored[7] = replace(told.stored[7], body_ok=False)

    assert found(evidence_of(new_run([CALM], change=damage))["calm", "loss"]) == [
        ("loss.body-damaged", "python:5.3.3", 1)
    ]


def test_ghosts_are_counted_and_are_no_divergence(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A failed send's message that a resumed broker stores is only counted."""
    evidence = evidence_of(new_run())[NAME, "loss"]
    assert (evidence.standing, evidence.divergences) == (Standing.DECISIVE, ())
    counted = measures(evidence)
    assert counted["ghosts baseline"] == counted["ghosts candidate"] == 1
    assert counted["stored-late candidate"] == 1


@pytest.mark.parametrize("send", [None, 40])
def test_a_message_that_nobody_sent_is_a_divergence(send: int | None, new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A message without an id, or beyond the plan's 40 sends, is a stray."""

    def intrude(told: Told) -> None:
        told.stored.append(Stored("broker-a", 3, 50_000, send))

    run = new_run([CALM], change=intrude)
    evidence = evidence_of(run)["calm", "loss"]
    assert measures(evidence)["foreign-messages candidate"] == 1
    assert found(evidence) == [("loss.stray-message", "python:5.3.3", 1)]
    assert judged(run).exit_code is ExitCode.DIVERGES


def test_more_copies_than_attempts_are_a_divergence(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A client that sends twice and reports one attempt leaves two copies in a queue."""

    def double(told: Told) -> None:
        first = next(one for one in told.stored if one.send == 9)
        told.stored.append(replace(first, queue_offset=first.queue_offset + 10_000))

    evidence = evidence_of(new_run([CALM], change=double))["calm", "duplication"]
    assert found(evidence) == [("duplication.stored-more-than-attempted", "python:5.3.3", 1)]
    assert measures(evidence)["stored-more-than-once candidate"] == 1


def test_a_copy_where_no_attempt_went_is_a_divergence(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A copy in queue n + 1 diverges if the client reports queue n."""

    def stray(told: Told) -> None:
        told.stored = [
            replace(one, queue_id=(one.queue_id + 1) % 4, queue_offset=9_000) if one.send == 9 else one
            for one in told.stored
        ]

    evidence = evidence_of(new_run([CALM], change=stray))
    assert found(evidence["calm", "duplication"]) == [("duplication.stored-elsewhere-than-claimed", "python:5.3.3", 1)]
    assert found(evidence["calm", "queue-choice"]) == [("witness.queue-or-offset-wrong", "python:5.3.3", 1)]


@pytest.mark.parametrize(("slip", "signatures"), [(0, []), (7_000, ["witness.queue-or-offset-wrong"])])
def test_a_result_is_held_to_what_it_names(
    slip: int, signatures: list[str], new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """The C++ client's result has no queue; only a wrong offset diverges."""

    def vague(told: Told) -> None:
        told.sends = [
            replace(one, broker=None, queue_id=None, queue_offset=(one.queue_offset or 0) + slip * (one.send == 9))
            for one in told.sends
        ]

    evidence = evidence_of(new_run([CALM], change=vague))["calm", "queue-choice"]
    assert [signature for signature, _, _ in found(evidence)] == signatures


def test_copies_that_attempts_explain_are_only_counted(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """4.2.0 tries the other broker after a timeout, so two copies are explained."""
    evidence = evidence_of(new_run(baseline="java:4.2.0", candidate="python:4.2.0"))[NAME, "duplication"]
    assert evidence.divergences == ()
    assert measures(evidence)["stored-more-than-once baseline"] >= 1


def never_sealed(run: RunDirectory, *arms: str) -> None:
    """Remove stored messages of case 1, as if never read."""
    names = {f"stored/01-{arm}.parquet" for arm in arms}
    for name in names:
        (run.path / name).unlink()
    run.change(1, lambda entry: replace(entry, files={k: v for k, v in entry.files.items() if k not in names}))


def test_without_read_back_nothing_is_said_about_storage(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A case aborted for a failed read-back is invalid."""
    run = new_run([CALM], complete=False)
    never_sealed(run, "baseline")
    run.case(1).abort("read-back failed")
    evidence = evidence_of(run)
    for check in ("loss", "duplication", "queue-choice"):
        assert evidence["calm", check].standing is Standing.INVALID
        assert evidence["calm", check].reason == "the case did not complete: read-back failed"


def test_a_read_back_that_failed_does_not_void_the_run(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A failed read-back makes its own case invalid, not the other."""
    run = new_run([CALM, replace(CALM, name="sound")], complete=False)
    run.case(2).complete()
    never_sealed(run, "baseline", "candidate")
    run.case(1).complete(guards=(Guard("read-back", held=False, expected="every queue read", seen="not read"),))
    evidence = evidence_of(run)
    for check in ("loss", "duplication"):
        assert evidence["calm", check].standing is Standing.INVALID
        assert evidence["calm", check].reason == "read-back: expected every queue read, saw not read"
        assert evidence["sound", check].standing is Standing.DECISIVE


def test_a_copy_after_an_attempt_that_certainly_failed_is_one_too_many(
    new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """A refused attempt explains no copy in its queue, even if copies do not outnumber attempts."""

    def refuse(told: Told) -> None:
        place = next(n for n, one in enumerate(told.attempts) if one.send == 9)
        taken = told.attempts[place]
        refused = replace(taken, queue_id=(taken.queue_id + 1) % 4, error="MQBrokerException", code=1, status=None)
        told.attempts[place : place + 1] = [refused, replace(taken, attempt=1)]
        told.stored.append(Stored(refused.broker, refused.queue_id, 9_000, 9))

    evidence = evidence_of(new_run([CALM], change=refuse))["calm", "duplication"]
    assert found(evidence) == [("duplication.stored-more-than-attempted", "python:5.3.3", 1)]
    assert evidence.divergences[0].example.expected.startswith("at most 0 copies in broker-")


def test_two_copies_in_one_queue_are_not_excused_by_an_attempt_elsewhere(
    new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """4.2.0 tried each broker once, so two copies in one queue diverge."""

    def gather(told: Told) -> None:
        twice = next(one.send for one in told.attempts if one.attempt == 1)
        first = next(one for one in told.attempts if one.send == twice)
        told.stored = [
            replace(one, broker=first.broker, queue_id=first.queue_id, queue_offset=9_000)
            if one.send == twice and (one.broker, one.queue_id) != (first.broker, first.queue_id)
            else one
            for one in told.stored
        ]

    evidence = evidence_of(new_run(baseline="java:4.2.0", candidate="python:4.2.0", change=gather))
    assert found(evidence[NAME, "duplication"]) == [("duplication.stored-more-than-attempted", "python:4.2.0", 1)]


def test_a_difference_of_a_check_nobody_planned_is_told(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A lost message fails a run that planned only ``queue-choice``; unplanned checks without a finding stay absent."""

    def lose(told: Told) -> None:
        told.stored = [one for one in told.stored if one.send != 3]

    evidence = evidence_of(new_run([replace(CALM, checks=("queue-choice",))], change=lose))
    assert found(evidence["calm", "loss"]) == [("loss.acknowledged-not-stored", "python:5.3.3", 1)]
    assert evidence["calm", "loss"].severity is Severity.MUST
    assert {check for _, check in evidence} == {"queue-choice", "loss", "protocol", "validity", "outcomes"}
