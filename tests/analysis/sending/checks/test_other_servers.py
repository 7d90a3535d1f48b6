"""Kinds of servers and ports that only one client keeps connections to, judged to the exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.manifest import Breach, ConnectionSample
from tests.analysis.builders import ENTRY, SUBJECTS, S, ended, fault
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE

Held = Mapping[str, int] | None

A, B, N1, N2 = ({server: 1} for server in ("broker-a", "broker-b", "name-server-1", "name-server-2"))
ORDINARY = A | B | N1
VIP = {"broker-a vip": 1}
PROXIES = {"proxy-1": 1, "proxy-2": 1}


def held_from(*spans: tuple[float, Held]) -> tuple[ConnectionSample, ...]:
    """Samples at seconds from the first send on; the last is at rest after 6 s."""
    samples = [ConnectionSample(round(at_s * S), None if held is None else dict(held), {}) for at_s, held in spans]
    return (*samples, replace(samples[-1], at_ns=6 * S, is_at_rest=True))


def case(
    candidate: Sequence[ConnectionSample], baseline: Sequence[ConnectionSample], fault_at_s: float = 0
) -> CaseFacts:
    entry = replace(ENTRY, connections={BASELINE: tuple(baseline), CANDIDATE: tuple(candidate)})
    sends: dict[TallyKey, tuple[int, float]] = {("outcomes", arm, "calm", "sends"): (10, 0.0) for arm in Arm}
    at_ns = round(fault_at_s * S)
    faults = (fault(at_ns, 5 * S, FaultKind.PAUSE_NAME_SERVER, "name-server-1"),) if fault_at_s else ()
    return CaseFacts("r1", SUBJECTS, entry, tallies=sends, faults=faults)


def found(facts: CaseFacts) -> list[str]:
    """Places that only one client uses; the exit code must match."""
    evidence = outcomes_evaluation.evaluate(facts)
    assert ended(evidence)[1] is (ExitCode.DIVERGES if evidence.divergences else ExitCode.CONFORMS)
    return [divergence.signature.removeprefix("outcomes.other-servers/") for divergence in evidence.divergences]


@pytest.mark.parametrize(
    ("candidate", "baseline", "places"),
    [
        (ORDINARY, ORDINARY, []),
        (ORDINARY | VIP, ORDINARY, ["broker-vip"]),
        (ORDINARY, ORDINARY | VIP, ["no-broker-vip"]),
        (VIP | N1, ORDINARY, ["broker-vip", "no-broker"]),
        (ORDINARY | VIP, ORDINARY | {"broker-b vip": 1}, []),
        (A | N1, B | N1, []),
        (ORDINARY | N2, ORDINARY, ["name-servers"]),
        (ORDINARY, ORDINARY | N2, ["no-name-servers"]),
        (A | N1, A | N2, []),
        (A, ORDINARY, ["no-name-server"]),
        (ORDINARY | {"broker-a-slave-1": 1}, ORDINARY, []),
        (ORDINARY | {"broker-a-slave-1 vip": 1}, ORDINARY | VIP, ["no-broker-vip"]),
        (PROXIES, {"proxy-2": 1}, ["proxies"]),
        ({"proxy-1": 1}, {"proxy-2": 1}, []),
        ({}, ORDINARY, []),
    ],
)
def test_kinds_of_servers_are_compared(candidate: Held, baseline: Held, places: list[str]) -> None:
    """Kinds and their number are compared, not which broker or name server it is, and only where both hold something."""
    assert found(case(held_from((0, candidate)), held_from((0, baseline)))) == places


@pytest.mark.parametrize(
    ("candidate", "baseline", "fault_at_s", "places"),
    [
        (held_from((0, ORDINARY), (5, ORDINARY | VIP)), held_from((0, ORDINARY)), 0, ["broker-vip"]),
        (held_from((0, ORDINARY), (5.1, ORDINARY | VIP)), held_from((0, ORDINARY)), 0, []),
        (held_from((0, ORDINARY | VIP)), held_from((0, ORDINARY | VIP), (0.1, ORDINARY)), 0, []),
        (held_from((0, ORDINARY | N2)), held_from((0, ORDINARY), (2.1, ORDINARY | N2)), 2, ["name-servers"]),
        (held_from((0, ORDINARY), (2, ORDINARY | N2)), held_from((0, ORDINARY)), 2, []),
        (held_from((0, ORDINARY | N2)), held_from((0, ORDINARY)), 0.9, []),
        (held_from((0, ORDINARY | VIP)), held_from((0, {}), (5.1, ORDINARY)), 0, []),
        (held_from((0, ORDINARY | VIP)), held_from((0, {}), (5, ORDINARY)), 0, ["broker-vip"]),
        (held_from((0, ORDINARY | VIP)), held_from((0, {}), (5.000000001, ORDINARY)), 0, []),
        (held_from((0, ORDINARY | VIP)), held_from((0, ORDINARY), (3, None)), 0, []),
        (held_from((0, ORDINARY | VIP), (2, None)), held_from((0, ORDINARY)), 2, ["broker-vip"]),
        ((), held_from((0, ORDINARY)), 0, []),
    ],
)
def test_only_what_lasts_in_calm_is_compared(
    candidate: Sequence[ConnectionSample], baseline: Sequence[ConnectionSample], fault_at_s: float, places: list[str]
) -> None:
    """A second in calm counts for one client, and any sample of calm against it; what a fault brings does not count."""
    assert [place for place in found(case(candidate, baseline, fault_at_s)) if "-left-" not in place] == places


def test_a_client_that_broke_off_used_too_little_to_compare() -> None:
    """No kind is missed of a client that broke off."""
    facts = case(held_from((0, ORDINARY)), held_from((0, ORDINARY | VIP)))
    breach = Breach("protocol.died", "a", "b")
    lost = replace(facts, entry=replace(facts.entry, breaches={CANDIDATE: breach}))
    assert outcomes_evaluation.evaluate(lost).divergences == ()


def test_example_names_servers_and_time() -> None:
    """The example names the servers, how long they were held, and what the other client does."""
    (more,) = outcomes_evaluation.evaluate(case(held_from((0, ORDINARY | VIP)), held_from((0, ORDINARY)))).divergences
    assert (more.example.observed, more.example.phase) == ("broker-a vip for 6.0 s", "calm")
    assert more.example.expected == "no connection to a broker's VIP port, two below its own, as of java:5.3.3"
    (fewer,) = outcomes_evaluation.evaluate(case(held_from((0, A)), held_from((0, A | N1)))).divergences
    assert (fewer.subject, fewer.example.observed) == ("python:5.3.3", "none")
    assert fewer.example.expected == "connections to a name server, as of java:5.3.3: name-server-1 for 6.0 s"
