"""Faults that last longer for a client whose attempts do: which, how long, and what follows them."""

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
    """Beginning and length of each fault for attempts of so long, and last the length of the workload."""
    longer = stretched(parse(scenario_text(faults), "here"), attempt_timeout_ms)
    return [*((fault.at_s, fault.for_s) for fault in longer.faults), (0, longer.duration_s)]


def test_a_pause_lasts_twice_the_attempt_timeout_and_what_follows_is_as_much_later() -> None:
    """1 s becomes 6 s; the second pause begins 5 s later, and lasts 6 s as well: ten seconds more in all."""
    two = "  - {kind: pause, broker: b, at_s: 1.5, for_s: 1}\n  - {kind: pause, broker: a, at_s: 6, for_s: 1}"
    assert times(two) == [(1.5, 6), (11, 6), (0, 30)]


def test_pauses_that_overlap_overlap_still() -> None:
    """Both need 6 s for 2 s: three seconds of each second that either lasts."""
    two = "  - {kind: pause, broker: b, at_s: 1, for_s: 2}\n  - {kind: pause, broker: a, at_s: 2, for_s: 2}"
    assert times(two) == [(1, 6), (4, 6), (0, 26)]


def test_a_pause_that_is_long_enough_stays() -> None:
    """Seven seconds are more than twice three."""
    assert times("  - {kind: pause, broker: b, at_s: 1, for_s: 7}") == [(1, 7), (0, 20)]


def test_a_pause_that_is_meant_to_cause_no_timeout_stays() -> None:
    """0.4 s of pause and a timeout of 0.5 s."""
    assert times("  - {kind: pause, broker: b, at_s: 1, for_s: 0.4}") == [(1, 0.4), (0, 20)]


def test_a_kill_is_only_later() -> None:
    """A dead broker refuses connections at once, whatever the timeout."""
    two = "  - {kind: pause, broker: b, at_s: 1, for_s: 1}\n  - {kind: kill, broker: a, at_s: 5}"
    assert times(two) == [(1, 6), (10, None), (0, 25)]


def test_a_delay_beyond_the_setting_is_as_far_beyond_the_attempt_timeout() -> None:
    """600 ms for 500 becomes 3,600 ms for 3,000, and the fault lasts twice that; 400 ms stay below both."""
    late = "  - {{kind: wire-delay, broker: b, at_s: 1, for_s: 2, frames: responses, delay_ms: {}}}"
    longer = stretched(parse(scenario_text(late.format(600)), "here"), 3_000)
    assert [(fault.at_s, fault.for_s, fault.delay_ms) for fault in longer.faults] == [(1, 7.2, 3_600)]
    unchanged = parse(scenario_text(late.format(400)), "here")
    assert stretched(unchanged, 3_000) is unchanged


@pytest.mark.parametrize("attempt_timeout_ms", [0, 300, 500])
def test_who_obeys_the_setting_gets_the_scenario_of_the_file(attempt_timeout_ms: int) -> None:
    """The very same, so that plans and reports are what they were."""
    scenario = parse(scenario_text("  - {kind: pause, broker: b, at_s: 1, for_s: 1}"), "here")
    assert stretched(scenario, attempt_timeout_ms) is scenario
    assert expand(scenario, JAVA, OWN, 7, attempt_timeout_ms) == expand(scenario, JAVA, OWN, 7)


def test_a_stretched_case_says_for_what_and_sends_at_the_same_rate() -> None:
    """25 s at ten a second; the first two hundred sends are those of the file's plan."""
    scenario = parse(scenario_text("  - {kind: pause, broker: b, at_s: 1, for_s: 1}"), "here")
    case, plain = expand(scenario, JAVA, OWN, 7, 3_000), expand(scenario, JAVA, OWN, 7)
    assert (case.attempt_timeout_ms, len(case.plan.sends)) == (3_000, 250)
    assert case.plan.sends[:200] == plain.plan.sends


def test_a_report_says_how_long_a_fault_was_in_the_file() -> None:
    """For whoever looks the scenario up."""
    scenario = parse(scenario_text("  - {kind: pause, broker: b, at_s: 1, for_s: 1}"), "here")
    assert stretched_sentences(scenario, 0) == ("broker-b paused at 1 s for 1 s",)
    assert stretched_sentences(scenario, 3_000) == (
        "broker-b paused at 1 s for 6 s (1 s in the file; an attempt may last 3,000 ms)",
    )
