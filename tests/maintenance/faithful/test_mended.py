"""Seeds that once caused a false alarm, and similar defective clients that must still be found."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from maintenance.faithful.faithful import Trial, judged, run_of, trial
from maintenance.faithful.laboratory import script_of
from maintenance.faithful.scenarios import drawn
from maintenance.faithful.trials import one_trial
from rocketdiff.core.errors import ExitCode
from rocketdiff.simulation.java_host.host import JavaHost
from rocketdiff.simulation.script.model import Timeline


@pytest.mark.parametrize(
    ("seed", "release"),
    [
        pytest.param(7072, "4.3.2", id="fallback-to-a-read-only-broker-that-left-the-list"),
        pytest.param(7014, "4.7.1", id="a-call-that-ends-and-one-that-begins-in-a-millisecond"),
        pytest.param(8184, "4.7.1", id="a-list-changed-and-changed-back"),
        pytest.param(6200198, "5.3.3", id="a-dead-slave-beside-a-fault-on-the-wire"),
        pytest.param(91570, "4.0.0-incubating", id="a-hundred-attempts-without-an-address-in-every-way"),
    ],
)
def test_a_mended_seed_is_quiet(java_host: JavaHost, seed: int, release: str) -> None:
    """The seed causes no alarm: the judge or the generator was corrected."""
    one = one_trial(java_host, seed, release)
    assert one.alarm is None, one.alarm
    assert one.code in (ExitCode.CONFORMS, ExitCode.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("seed", "release", "send", "queue", "found"),
    [
        # After the fallback b2 is in the list, and no later turn, with or without an address, reaches b1.
        pytest.param(7072, "4.3.2", 8, 1, "queue.mutated-list/first", id="another-queue-of-the-broker-that-left"),
        # The list did not change in this millisecond, so the turn is fixed.
        pytest.param(7014, "4.7.1", 28, 4, "queue.out-of-turn/first", id="a-queue-passed-over"),
    ],
)
def test_beside_it_a_choice_out_of_turn_is_found(
    java_host: JavaHost, tmp_path: Path, seed: int, release: str, send: int, queue: int, found: str
) -> None:
    """A candidate with one choice out of turn diverges in the seed that alone causes no alarm."""
    one = trial(drawn(seed).scenario, release, seed)
    answers = [java_host.run(release, f"mended-{seed}", script, trace=True) for script in one.arms]
    spoilt = [answers[0], _sent_elsewhere(one, answers[1], send, queue)]
    judgement = judged(run_of(one, spoilt, tmp_path))
    assert judgement.exit_code is ExitCode.DIVERGES
    assert any(found in each.signature for result in judgement.results for each in result.divergences)


def test_beside_it_a_counter_that_begins_anew_without_a_new_list_is_found(java_host: JavaHost, tmp_path: Path) -> None:
    """A candidate with one send to the broker out of turn diverges, well after the list has come back."""
    one = trial(drawn(8184).scenario, "4.7.1", 8184)
    answers = [java_host.run("4.7.1", "mended-8184", script, trace=True) for script in one.arms]
    (reported,) = [json.loads(line)["send"] for line in answers[1] if _number(one, line) == 12]
    other = {"broker-a": "broker-b", "broker-b": "broker-a"}[reported["attempts"][0]["broker"]]
    spoilt = [answers[0], _sent_elsewhere(one, answers[1], 12, 0, broker=other)]
    assert judged(run_of(one, spoilt, tmp_path)).exit_code is ExitCode.DIVERGES


def _number(one: Trial, line: str) -> int:
    """The number of an answer's send."""
    (timeline,) = script_of(one.case.scenario, one.seed, 0).steps
    assert isinstance(timeline, Timeline)
    return int(json.loads(line)["at"]) - (len(timeline.entries) - len(one.case.plan.sends))


def _sent_elsewhere(one: Trial, lines: Sequence[str], send: int, queue: int, *, broker: str | None = None) -> list[str]:
    return [_placed(line, queue, broker) if _number(one, line) == send else line for line in lines]


def _placed(line: str, queue: int, broker: str | None) -> str:
    answer = json.loads(line)
    for place in (answer["send"], answer["send"]["attempts"][0]):
        if place["queue_id"] is not None:
            place["queue_id"] = queue
            place["broker"] = broker or place["broker"]
    return json.dumps(answer)
