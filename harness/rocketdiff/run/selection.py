"""Selects the scenarios of a run. Every scenario that is left out is listed with the reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rocketdiff.cluster.backend import Backend
from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import require_folder, require_nameable
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.spark_master import require_master
from rocketdiff.core.subject import GRPC_STANDARD, STANDARD, ClientProtocol, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.process.open_files import require_open_files
from rocketdiff.run.request import Selection
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.subjects.subject import Subject

OTHER_PROTOCOL = {
    ClientProtocol.REMOTING: "its cluster has a proxy, which only clients that speak gRPC use",
    ClientProtocol.GRPC: "its cluster has no proxy, which clients that speak gRPC need; --suite grpc has those with one",
}
"""Why a scenario is left out whose cluster does not suit clients of this protocol."""

NO_CALL = "one of the two clients has no such call"
"""Why a scenario is left out if one of the clients lacks its kind of send: no difference could be observed there."""

NO_GROUP = "one of the two clients has no consumers for such a group"
"""Why a scenario about consumers is left out if one of the clients cannot be a member of its group."""

_NO_DEMAND = {ClientRole.PRODUCER: NO_CALL, ClientRole.CONSUMER: NO_GROUP}

_SCENARIOS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """
    The selected scenarios that can be run, and the others.

    lacking: those that one of the clients cannot play, by role, each with the reason.
    not_here: not possible on the backend or for the clients' protocol, with the reason.
    claims: a sentence about the capabilities that each program of the user claims.
    """

    scenarios: tuple[Scenario, ...]
    lacking: Mapping[ClientRole, tuple[tuple[str, str], ...]]
    not_here: tuple[tuple[str, str], ...]
    claims: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        return (*chain.from_iterable(self.lacking.values()), *self.not_here)

    @property
    def without_call(self) -> tuple[str, ...]:
        """Names of scenarios about producers that one of the clients cannot play."""
        return tuple(name for name, _ in self.lacking.get(ClientRole.PRODUCER, ()))

    @property
    def without_group(self) -> tuple[str, ...]:
        """Names of scenarios about consumers that one of the clients cannot play."""
        return tuple(name for name, _ in self.lacking.get(ClientRole.CONSUMER, ()))

    @property
    def why_none(self) -> str:
        """Message for the user if no scenario is left."""
        if self.not_here:
            return "; ".join(f"{name}: {reason}" for name, reason in self.not_here)
        lacking = tuple(chain.from_iterable(self.lacking.values()))
        reasons = dict.fromkeys(why for _, why in lacking)
        shown = [_shown([name for name, each in lacking if each == why], why) for why in reasons]
        return "; ".join((*shown, *self.claims)) if shown else "rocketdiff scenarios lists them"


def choose(wanted: Selection, subjects: Sequence[Subject], backend: Backend) -> Choice:
    """
    Scenarios by suite and pattern, without those that cannot be run.

    Raises UsageError for a scenario requested by its exact name that does not suit the backend or the clients' protocol.
    """
    there = load_all(wanted.root)
    selected = select(there, suite=wanted.suite, patterns=wanted.patterns)
    possibly = ((scenario.name, why_not_here(scenario, backend)) for scenario in selected)
    not_here = {name: reason for name, reason in possibly if reason is not None}
    for name, reason in not_here.items():
        if name in wanted.patterns:
            raise backend.refused(name, reason)
    other = {scenario.name: why for scenario in selected if (why := _other_protocol(scenario, subjects[0])) is not None}
    for name, why in other.items():
        if name in wanted.patterns:
            raise UsageError(f"a scenario for {subjects[0].protocol} clients", seen=name, hint=why)
    not_here = not_here | other
    asked = [(each, why_not_asked(each, subjects)) for each in selected if each.name not in other]
    lacking = {
        role: tuple((each.name, why) for each, why in asked if why is not None and each.role is role)
        for role in ClientRole
    }
    unable = {name for name, _ in chain.from_iterable(lacking.values())}
    possible = tuple(each for each in selected if each.name not in {*not_here, *unable})
    return Choice(possible, lacking, tuple(not_here.items()), tuple(_claims(subjects)))


def _shown(names: Sequence[str], why: str) -> str:
    more = len(names) - _SCENARIOS_NAMED
    named = ", ".join(names[:_SCENARIOS_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{named}: {why}"


def _claims(subjects: Sequence[Subject]) -> Iterator[str]:
    """Makes a misspelt claim visible. An unknown claim is not refused, because a later protocol may define it."""
    for subject in subjects:
        if subject.kind is None:
            claimed = ", ".join(sorted(subject.capabilities)) or "nothing"
            roles = ", ".join(subject.roles)
            yield f"hello of {subject} has the roles {roles} and claims {claimed}; kinds of send are {', '.join(SendKind)}"


def require_usable(out: Path, master: str | None) -> None:
    """UsageError for a folder or Spark master, EnvironmentMissing for a limit, that would fail only after the cases."""
    require_nameable(out, "--out")
    require_folder(out, "--out")
    require_master(master)
    require_open_files()


def require_pair(baseline: Subject, candidate: Subject) -> None:
    """UsageError for clients of two protocols, and for a baseline whose rules are unknown."""
    if baseline.protocol is not candidate.protocol:
        raise UsageError(
            "two clients of one protocol, which are on the same cluster and asked for the same sends",
            seen=f"{baseline} speaks {baseline.protocol}, {candidate} speaks {candidate.protocol}",
            hint=f"{GRPC_STANDARD}:… is the baseline of clients that speak gRPC, {STANDARD}:… of those that speak remoting",
        )
    if baseline.protocol is ClientProtocol.GRPC:
        if baseline.id.client != GRPC_STANDARD:
            raise UsageError(f"{GRPC_STANDARD} as the baseline of a client that speaks gRPC", seen=str(baseline))
        return
    if baseline.rules is None:
        turned = f"the other way round: {candidate.spec}, then {baseline.spec}"
        turned = turned if candidate.rules else f"{SubjectId(STANDARD, DEFAULT_RELEASE)}, then {baseline.spec}"
        with_rules = "; or give it rules in a subject.yaml" if baseline.kind is None else ""
        raise UsageError(
            "a baseline whose rules are known, a Java client or the reference",
            seen=str(baseline),
            hint=f"{turned}{with_rules}",
        )


def require_security(subjects: Sequence[Subject], backend: Backend) -> None:
    """UsageError for a client that lacks what the servers demand: every send would fail, revealing nothing."""
    for subject in subjects:
        missing = subject.lacks(backend.demands)
        if missing:
            raise UsageError(
                f"clients that can do what {backend.security_file} asks for: {', '.join(backend.demands)}",
                seen=f"{subject} cannot do {', '.join(missing)}",
                hint="a program of your own lists what it supports in the capabilities of its hello",
            )


def require_some(choice: Choice, wanted: Selection) -> None:
    """UsageError if no scenario is left: a typing error must not look like a pass."""
    if not choice.scenarios:
        raise UsageError(
            "at least one scenario",
            seen=f"none in suite {wanted.suite_name} for {', '.join(wanted.patterns) or 'every name'}",
            hint=choice.why_none,
        )


def _other_protocol(scenario: Scenario, subject: Subject) -> str | None:
    is_grpc = subject.protocol is ClientProtocol.GRPC
    has_proxies = topology_named(scenario.topology).has_proxies
    return None if has_proxies is is_grpc else OTHER_PROTOCOL[subject.protocol]


def why_not_asked(scenario: Scenario, subjects: Sequence[Subject]) -> str | None:
    """Why the subjects cannot be compared in a scenario on any cluster; None if they can."""
    unable = [(each, demand) for each in subjects for demand in scenario.demands() if not each.offers(demand)]
    if not unable:
        return None
    reasons = dict.fromkeys(why for each, demand in unable if (why := each.why_not(demand)))
    return f"{_NO_DEMAND[scenario.role]}: {'; '.join(reasons)}" if reasons else _NO_DEMAND[scenario.role]


def why_not_here(scenario: Scenario, backend: Backend) -> str | None:
    """What the backend lacks for a scenario; None if it can run it."""
    returned = scenario.group is not None and scenario.group.returns_messages
    delayed = returned or any(scenario.workload.delay_levels)
    return backend.why_not(topology_named(scenario.topology), scenario.faults, delayed=delayed)
