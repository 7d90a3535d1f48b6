"""Each defect is found by the check of its kind, and faithful clients conform."""

import json
from collections.abc import Callable
from dataclasses import replace

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import stamped
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Pause, Story, Told

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

NAME = "fault-latency/pause-one-of-two"
PLAIN = Story(name="plain", settings=ClientSettings(send_msg_timeout_ms=500))
CALM = replace(PLAIN, name="calm", pauses=())
BY_RULES = ("queue-choice", "attempts", "avoidance", "error-kind")


def signatures(evidence: Evidence) -> set[str]:
    return {f"{divergence.subject} {divergence.signature}" for divergence in evidence.divergences}


def test_two_faithful_clients_leave_nothing_to_say(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Every exact check decides without a divergence, with under 20 % legal queues."""
    evidence = evidence_of(new_run())
    for check in (*BY_RULES, "loss", "duplication", "protocol", "validity"):
        assert (evidence[NAME, check].standing, evidence[NAME, check].divergences) == (Standing.DECISIVE, ()), check
    assert (evidence[NAME, "queue-choice"].legal_share or 1) < 0.2
    assert evidence[NAME, "queue-choice"].decisions == 400


def test_without_fault_latency_avoidance_is_no_question(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Without fault latency a client keeps no fault table, so ``avoidance`` does not apply."""
    evidence = evidence_of(new_run([PLAIN]))
    assert evidence["plain", "avoidance"].standing is Standing.NOT_APPLICABLE
    assert evidence["plain", "queue-choice"].standing is Standing.DECISIVE


def test_where_nothing_fails_there_is_nothing_to_retry(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """In calm ``attempts`` and ``error-kind`` do not apply."""
    evidence = evidence_of(new_run([CALM]))
    assert evidence["calm", "attempts"].standing is Standing.NOT_APPLICABLE
    assert evidence["calm", "error-kind"].standing is Standing.NOT_APPLICABLE
    assert (
        evidence["calm", "error-kind"].reason
        == "no send failed in either arm, nor returned a status other than SEND_OK"
    )


def test_a_queue_out_of_turn_is_found_with_both_arms_side_by_side(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Send 20 goes to the queue after the one whose turn it is; the divergence shows both arms' attempts."""

    def skip(told: Told) -> None:
        told.attempts = [
            replace(one, queue_id=(one.queue_id + 1) % 4) if one.send == 20 else one for one in told.attempts
        ]
        told.sends = [
            replace(one, queue_id=((one.queue_id or 0) + 1) % 4) if one.send == 20 else one for one in told.sends
        ]
        told.stored = [
            replace(one, queue_id=(one.queue_id + 1) % 4, queue_offset=one.queue_offset + 1_000)
            if one.send == 20
            else one
            for one in told.stored
        ]

    evidence = evidence_of(new_run([CALM], change=skip))["calm", "queue-choice"]
    assert "python:5.3.3 queue.out-of-turn/first" in signatures(evidence)
    example = next(one.example for one in evidence.divergences if one.signature == "queue.out-of-turn/first")
    assert example.send == 20 and example.phase == "calm"
    assert [(one.arm, one.send) for side in example.sides for one in side.attempts] == [
        ("baseline", 20),
        ("candidate", 20),
    ]


def test_a_result_that_points_elsewhere_is_a_wrong_witness(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A result with a wrong offset is a wrong witness and no duplicate."""

    def lie(told: Told) -> None:
        told.sends[5] = replace(told.sends[5], queue_offset=77_777)

    evidence = evidence_of(new_run([CALM], change=lie))
    assert signatures(evidence["calm", "queue-choice"]) == {"python:5.3.3 witness.queue-or-offset-wrong"}
    assert not evidence["calm", "duplication"].divergences


def test_an_older_release_avoids_for_longer(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """5.1.3 avoids a broker for ten minutes and diverges from 5.3.3, which avoids it for ten seconds."""
    story = Story(sends=1_000)
    evidence = evidence_of(new_run([story], baseline="java:5.3.3", candidate="java:5.1.3"))
    assert any("avoidance.stayed-away" in one for one in signatures(evidence[NAME, "avoidance"]))
    assert not any(one.startswith("java:5.3.3") for check in BY_RULES for one in signatures(evidence[NAME, check]))


def test_a_missing_exception_class_is_an_error_kind(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A blocked send must end with RemotingTooMuchRequestException."""

    def rename(told: Told) -> None:
        told.sends = [replace(one, error="RuntimeException") if one.error else one for one in told.sends]

    evidence = evidence_of(new_run(change=rename))[NAME, "error-kind"]
    assert all("error.other-class" in one for one in signatures(evidence)) and evidence.divergences


def test_one_attempt_too_many_is_an_attempts_difference(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """An attempt after the shared budget, as in C++, diverges."""

    def insist(told: Told) -> None:
        failed = next(one for one in told.sends if one.error)
        last = [one for one in told.attempts if one.send == failed.send][-1]
        extra = replace(
            last,
            attempt=last.attempt + 1,
            broker="broker-a",
            start_ns=last.end_ns + 1_000,
            end_ns=last.end_ns + 5_000,
            error=None,
            status="SEND_OK",
        )
        told.attempts.insert(told.attempts.index(last) + 1, extra)

    evidence = evidence_of(new_run(change=insist))[NAME, "attempts"]
    assert any("attempts.went-on" in one for one in signatures(evidence))


def test_a_baseline_that_its_own_rules_do_not_explain_is_our_fault(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """If the rules do not explain the baseline, which here plays another release, the signature blames them."""
    run = new_run([Story(sends=1_000)], baseline="java:5.1.3", candidate="java:5.1.3")
    renamed = (run.path / "run.json").read_text().replace("java:5.1.3", "java:5.3.3")
    (run.path / "run.json").write_bytes(stamped(json.loads(renamed)))
    evidence = evidence_of(RunDirectory.open(run.path))
    found = {one for check in BY_RULES for one in signatures(evidence[NAME, check])}
    assert any(one.startswith("java:5.3.3 rules/avoidance.") for one in found)


def test_a_baseline_without_rules_is_indecisive(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Without rules for the baseline the checks are indecisive."""
    run = new_run()
    spoilt = (run.path / "run.json").read_text().replace('"java:5.3.3"', '"cpp:2.1.0"')
    (run.path / "run.json").write_bytes(stamped(json.loads(spoilt)))
    evidence = evidence_of(RunDirectory.open(run.path))
    assert {evidence[NAME, check].standing for check in BY_RULES} == {Standing.INDECISIVE}
    assert "no rules are known for the baseline cpp:2.1.0" in evidence[NAME, "attempts"].reason


def test_a_candidate_without_a_witness_of_its_attempts_is_indecisive(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A client without a hook shows only results: ``loss`` decides, ``queue-choice`` and ``duplication`` do not."""

    def hide(told: Told) -> None:
        told.attempts.clear()

    evidence = evidence_of(new_run(change=hide))
    assert evidence[NAME, "queue-choice"].standing is Standing.INDECISIVE
    assert evidence[NAME, "queue-choice"].reason == "no attempt of python:5.3.3 was witnessed"
    assert evidence[NAME, "duplication"].standing is Standing.INDECISIVE
    assert evidence[NAME, "loss"].standing is Standing.DECISIVE


def test_threads_that_share_a_fault_table_are_judged_together(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Two threads that share an empty fault table have no divergence."""
    story = replace(CALM, settings=ClientSettings(send_latency_fault_enable=True), threads=2, sends=60)
    evidence = evidence_of(new_run([story]))["calm", "queue-choice"]
    assert (evidence.standing, evidence.divergences, evidence.decisions) == (Standing.DECISIVE, (), 120)


def test_a_failed_send_nobody_could_judge_is_not_relevant(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A failed send with an unreported route is counted, but decides nothing."""

    def unroute(told: Told) -> None:
        told.sends = [replace(one, route=7, route_after=7) if one.error else one for one in told.sends]

    # The pause is late: after such a send its thread stays undecided for a while, and few sends may be undecided.
    story = Story(pauses=(Pause("broker-b", 3_900, 2_000),))
    evidence = evidence_of(new_run([story], change=unroute))
    for check in ("attempts", "error-kind"):
        assert (evidence[NAME, check].standing, evidence[NAME, check].severity) == (
            Standing.INDECISIVE,
            Severity.SHOULD,
        ), check
        assert evidence[NAME, check].reason == "python:5.3.3 never came into the situation this check asks about"
        assert [measure.value for measure in evidence[NAME, check].measures[:2]] == [1, 1], check


def test_a_send_that_went_wrong_before_it_failed_says_nothing_of_its_error(
    new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """
    After a wrong queue the rules stop, so the exception of the only failed send was not judged.

    Seen with cpp:2.1.0 under FLUSH_SLAVE_TIMEOUT, where ``error-kind`` conformed wrongly.
    """

    def go_elsewhere(told: Told) -> None:
        failed = next(one.send for one in told.sends if one.error)
        told.sends = [replace(one, error="RuntimeException") if one.error else one for one in told.sends]
        told.attempts = [
            replace(one, queue_id=(one.queue_id + 2) % 4) if one.send == failed and not one.attempt else one
            for one in told.attempts
        ]

    evidence = evidence_of(new_run(change=go_elsewhere))
    assert any("queue." in one for one in signatures(evidence[NAME, "queue-choice"]))
    for check in ("attempts", "error-kind"):
        assert evidence[NAME, check].standing is Standing.INDECISIVE, check


def test_a_fault_nobody_met_is_no_calm_case(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A pause after the last send leaves ``attempts`` and ``error-kind`` indecisive."""
    evidence = evidence_of(new_run([replace(PLAIN, pauses=(Pause("broker-b", 8_000, 500),))]))
    for check in ("attempts", "error-kind"):
        assert (evidence["plain", check].standing, evidence["plain", check].severity) == (
            Standing.INDECISIVE,
            Severity.SHOULD,
        ), check
        assert evidence["plain", check].reason == "no attempt of either arm met a faulty broker"


def test_the_absence_from_a_broker_that_failed_is_measured(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Both arms stay away from the failed broker for ten seconds, or to the end of the case."""
    measures = {one.name: one for one in evidence_of(new_run())[NAME, "avoidance"].measures}
    for arm in ("baseline", "candidate"):
        away = measures.get(f"away-at-least {arm}") or measures[f"away-until-return {arm}"]
        assert away.unit == "ms"
        assert away.value > 1_000


def stored_with_reserve(told: Told, *, and_said_so: bool) -> None:
    """Send 20 is answered FLUSH_SLAVE_TIMEOUT; the call returns that, or SEND_OK."""
    reserve = "FLUSH_SLAVE_TIMEOUT"
    told.attempts = [replace(one, status=reserve) if one.send == 20 else one for one in told.attempts]
    if and_said_so:
        told.sends = [replace(one, status=reserve) if one.send == 20 else one for one in told.sends]


def test_a_status_other_than_send_ok_is_a_situation_to_judge(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A status other than SEND_OK counts as a decision: a client could retry, or report it wrongly."""
    evidence = evidence_of(new_run([CALM], change=lambda told: stored_with_reserve(told, and_said_so=True)))
    for check in ("attempts", "error-kind"):
        found = evidence["calm", check]
        assert (found.standing, found.decisions, found.divergences) == (Standing.DECISIVE, 1, ()), check
    assert [(one.name, one.value) for one in evidence["calm", "error-kind"].measures] == [
        ("FLUSH_SLAVE_TIMEOUT candidate", 1)
    ]


def test_a_status_that_the_broker_did_not_give_is_found(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A call must not return SEND_OK for FLUSH_SLAVE_TIMEOUT."""
    evidence = evidence_of(new_run([CALM], change=lambda told: stored_with_reserve(told, and_said_so=False)))
    assert signatures(evidence["calm", "error-kind"]) == {
        "python:5.3.3 error.other-status/expected=FLUSH_SLAVE_TIMEOUT/seen=SEND_OK/first"
    }


def test_a_status_that_ought_to_be_tried_elsewhere_and_is_not_is_found(
    new_run: NewRun, evidence_of: EvidenceOf
) -> None:
    """With retry_another_broker_when_not_store_ok another attempt must follow FLUSH_SLAVE_TIMEOUT."""
    story = replace(CALM, settings=replace(CALM.settings, retry_another_broker_when_not_store_ok=True))
    evidence = evidence_of(new_run([story], change=lambda told: stored_with_reserve(told, and_said_so=True)))
    assert signatures(evidence["calm", "attempts"]) == {"python:5.3.3 attempts.stopped-early/retry"}
