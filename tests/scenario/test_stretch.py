"""Faults last longer for a client whose attempts do, and later faults move."""

import pytest

from rocketdiff.core.subject import SubjectId
from rocketdiff.scenario import expand, parse, stretched, stretched_sentences

JAVA, OWN = SubjectId("java", "5.3.3"), SubjectId("acme", "1.0")


def scenario_text(faults: str, timeout_ms: int = 500) -> str:
    return f"""\
format: 1
name: test/stretched
establishes: What becomes of faults for longer attempts.
covers: [B1]
topology: two-masters
topic: {{queues_per_broker: 4}}
settings: {{send_msg_timeout_ms: {timeout_ms}}}
workload: {{mode: sync, threads: 1, rate_per_s: 10, duration_s: 20, body_bytes: 64}}
faults:
{faults}
checks: [loss]
suites: [full]
"""


def times(faults: str, attempt_timeout_ms: int = 3_000) -> list[tuple[float, float | None]]:
    """Start and length of each fault for this attempt timeout, then the workload's length."""
    longer = stretched(parse(scenario_text(faults), "here"), attempt_timeout_ms)
    return [*((fault.at_s, fault.for_s) for fault in longer.faults), (0, longer.duration_s)]


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        (
            ["pause, broker: b, at_s: 1.5, for_s: 1", "pause, broker: a, at_s: 6, for_s: 1"],
            [(1.5, 6), (11, 6), (0, 30)],
        ),
        (["pause, broker: b, at_s: 1, for_s: 2", "pause, broker: a, at_s: 2, for_s: 2"], [(1, 6), (4, 6), (0, 26)]),
        (["pause, broker: b, at_s: 1, for_s: 7"], [(1, 7), (0, 20)]),
        (["pause, broker: b, at_s: 1, for_s: 0.4"], [(1, 0.4), (0, 20)]),
        (["pause, broker: b, at_s: 1, for_s: 1", "kill, broker: a, at_s: 5"], [(1, 6), (10, None), (0, 25)]),
    ],
)
def test_a_pause_lasts_twice_the_attempt_timeout_and_later_faults_move(
    faults: list[str], expected: list[tuple[float, float | None]]
) -> None:
    """
    A pause lasts at least twice the attempt timeout of 3 s, and what follows moves: each of two pauses gets 5 s more.

    Overlapping pauses still overlap. A pause that must cause no timeout (0.5 s) stays. A kill moves but does not last longer,
    because a dead broker refuses connections at once.
    """
    assert times("\n".join(f"  - {{kind: {one}}}" for one in faults)) == expected


def test_a_delay_beyond_the_setting_is_as_far_beyond_the_attempt_timeout() -> None:
    """A delay beyond the timeout stays beyond it: 600 ms for 500 become 3,600 for 3,000, for twice as long; 400 ms stay."""
    late = "  - {{kind: wire-delay, broker: b, at_s: 1, for_s: 2, frames: responses, delay_ms: {}}}"
    longer = stretched(parse(scenario_text(late.format(600)), "here"), 3_000)
    assert [(fault.at_s, fault.for_s, fault.delay_ms) for fault in longer.faults] == [(1, 7.2, 3_600)]
    unchanged = parse(scenario_text(late.format(400)), "here")
    assert stretched(unchanged, 3_000) is unchanged


@pytest.mark.parametrize("attempt_timeout_ms", [0, 300, 500])
def test_who_obeys_the_setting_gets_the_scenario_of_the_file(attempt_timeout_ms: int) -> None:
    """A client that obeys the setting gets the file's scenario."""
    scenario = parse(scenario_text("  - {kind: pause, broker: b, at_s: 1, for_s: 1}"), "here")
    assert stretched(scenario, attempt_timeout_ms) is scenario
    assert expand(scenario, JAVA, OWN, 7, attempt_timeout_ms) == expand(scenario, JAVA, OWN, 7)


def test_a_stretched_case_has_a_reason_and_the_same_rate() -> None:
    """A stretched case of 25 s at ten a second begins with the two hundred sends of the file's plan."""
    scenario = parse(scenario_text("  - {kind: pause, broker: b, at_s: 1, for_s: 1}"), "here")
    case, plain = expand(scenario, JAVA, OWN, 7, 3_000), expand(scenario, JAVA, OWN, 7)
    assert (case.attempt_timeout_ms, len(case.plan.sends)) == (3_000, 250)
    assert case.plan.sends[:200] == plain.plan.sends


def test_a_report_states_a_faults_length_in_the_file() -> None:
    """A report states a fault's length in the file too."""
    scenario = parse(scenario_text("  - {kind: pause, broker: b, at_s: 1, for_s: 1}"), "here")
    assert stretched_sentences(scenario, 0) == ("broker-b paused at 1 s for 1 s",)
    assert stretched_sentences(scenario, 3_000) == (
        "broker-b paused at 1 s for 6 s (1 s in the file; an attempt may last 3,000 ms)",
    )
