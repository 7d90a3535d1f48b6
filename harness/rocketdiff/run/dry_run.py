"""What a run would do to a cluster, told and not done: cases, topics, faults with their times and commands, and the end."""

from collections.abc import Iterator, Sequence

from rocketdiff.cluster.described import DescribedCluster
from rocketdiff.core.events import Arm
from rocketdiff.core.fault import fault_sentence
from rocketdiff.report.words import duration, plural
from rocketdiff.run.control_arm import FOLDER, control_cases
from rocketdiff.run.external import command_for
from rocketdiff.run.selection import Choice
from rocketdiff.scenario import Case
from rocketdiff.scenario.checks_asked import checks_planned, count_planned

_RUN = "<run>"
"""Stands for the name of a run, which is given when it starts."""


def told(
    cases: Sequence[Case],
    choice: Choice,
    described: DescribedCluster | None,
    server_release: str,
    *,
    is_control_wanted: bool,
) -> Iterator[str]:
    """
    The lines of ``--dry-run``; nothing is asked, started or written for them.

    choice: for what of it is left out. described: somebody's own cluster, None for one that would be started.
    """
    yield "dry run: nothing is started, no connection is made, no command is run"
    yield from _cluster(described, server_release)
    prefix = "rocketdiff" if described is None else described.topic_prefix
    for number, (case, control) in enumerate(zip(cases, control_cases(cases), strict=True), start=1):
        if described is not None:
            yield ""
        yield f"case {number}: {_work(case)}"
        yield from _case(f"{prefix}-{_RUN}-{number:03d}", case, described)
        if is_control_wanted:
            yield f"then its control: {_work(control)}"
            yield from _case(f"{prefix}-{_RUN}-{FOLDER}-{number:03d}", control, described)
    yield from _left_out(choice)
    yield ""
    yield from _end(prefix, described)
    yield _total(cases, choice, is_control_wanted=is_control_wanted)


def _cluster(described: DescribedCluster | None, server_release: str) -> Iterator[str]:
    if described is None:
        yield f"clusters of RocketMQ {server_release} would be started, one for each topology"
        return
    yield f"cluster {described.name} of {described.origin}, RocketMQ {server_release}; commands run in {described.folder}"
    for node in described.name_servers:
        yield f"  {node.name} {node.address}"
    for node in described.brokers:
        yield f"  broker {node.letter} is {node.name}; a pause of it is witnessed by its {node.witness}"
    names = ", ".join(node.name for node in described.brokers)
    yield f"topic {described.topic_prefix}-probe-<random>, 4 queues on each broker used of {names}: one message in each"


def _work(case: Case) -> str:
    return f"{case.id}, {case.scenario.duration_s:g} s, {len(case.plan.sends)} sends an arm"


def _case(prefix: str, case: Case, described: DescribedCluster | None) -> Iterator[str]:
    """What a case does, once it is named; prefix: of its topics."""
    scenario = case.scenario
    yield f"  checks: {', '.join(checks_planned(scenario))}"
    if described is not None:  # topics of a cluster that is started for the run are nobody's concern
        for suffix in (*map(str, Arm), "warm"):
            yield f"  topic {prefix}-{suffix}: {scenario.queues_per_broker} queues on each of {', '.join(case.brokers)}"
    for fault in scenario.faults:
        yield f"  fault: {fault_sentence(fault)}"
        if described is not None:
            begin, end = command_for(fault, described)
            yield from _commands(fault.at_s, fault.for_s, begin, end)


def _commands(at_s: float, for_s: float | None, begin: str, end: str) -> Iterator[str]:
    if not begin:
        yield "    by a relay on this machine; the cluster is not touched"
        return
    yield f"    at {at_s:g} s: {begin}"
    yield f"    at the end of the case: {end}" if for_s is None else f"    at {at_s + for_s:g} s: {end}"


def _left_out(choice: Choice) -> Iterator[str]:
    for name, reason in choice.left_out:
        yield f"left out: {name}: {reason}"


def _end(prefix: str, described: DescribedCluster | None) -> Iterator[str]:
    if described is None:
        yield "in the end: everything that was started is stopped"
        return
    yield f"in the end: whatever is paused or down is resumed or restarted, and the topics above ({prefix}-…) are deleted"


def _total(cases: Sequence[Case], choice: Choice, *, is_control_wanted: bool) -> str:
    """How much it is; the time is that of the sends alone, to which each case adds its topics and reading everything back."""
    sent_s = sum(case.scenario.duration_s for case in cases) * (2 if is_control_wanted else 1)
    controls = " and as many controls" if is_control_wanted else ""
    first = cases[0].id
    checks = count_planned([case.scenario for case in cases], str(first.baseline), str(first.candidate))
    left = f", {plural(len(choice.left_out), 'scenario')} left out" if choice.left_out else ""
    return f"in all: {plural(len(cases), 'case')}{controls}, {checks} checks{left}; {duration(sent_s)} of sending, the run takes longer"
