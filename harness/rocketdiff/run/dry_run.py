"""The text of ``--dry-run``: cases, topics, faults with their times and commands, and the state at the end."""

from collections.abc import Iterator, Sequence

from rocketdiff.cluster.backend import Backend
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import fault_sentence
from rocketdiff.report.words.signs import duration, plural
from rocketdiff.run.case.consuming.names import LETTERS
from rocketdiff.run.control_arm import FOLDER, control_cases
from rocketdiff.run.request import RunRequest
from rocketdiff.run.selection import Choice
from rocketdiff.scenario import Case
from rocketdiff.scenario.checks_asked import checks_planned, count_planned

_RUN = "<run>"
_DRAWN = "<nn>"
"""Part of a name that depends on the run."""


def describe(request: RunRequest, cases: Sequence[Case], choice: Choice) -> Iterator[str]:
    """
    The lines of ``--dry-run``. Connects to nothing, starts nothing and writes nothing.

    choice: used to name the scenarios that are left out.
    """
    backend, is_control_wanted = request.backend, request.is_control_wanted
    yield "dry run: nothing is started, no connection is made, no command is run"
    yield from backend.introduction()
    for number, (case, control) in enumerate(zip(cases, control_cases(cases), strict=True), start=1):
        if backend.is_shared:
            yield ""
        yield f"case {number}: {_work(case)}"
        yield from _case(f"{backend.topic_prefix}-{_RUN}-{number:03d}", case, backend)
        if is_control_wanted:
            yield f"then its control: {_work(control)}"
            yield from _case(f"{backend.topic_prefix}-{_RUN}-{FOLDER}-{number:03d}", control, backend)
    yield from _left_out(choice)
    yield ""
    yield backend.ending()
    yield _total(cases, choice, is_control_wanted=is_control_wanted)
    yield _terms(request)


def _terms(request: RunRequest) -> str:
    """Suite, backend, ledgers and policy."""
    policy, ledgers = request.judging.policy, request.judging.ledgers
    declared = [*(["the shipped ones"] if ledgers.shipped else []), *map(str, ledgers.files)]
    relays = ", relays before both clients" if request.is_wire_wanted else ""
    strict = ", strict" if policy.strict else ""
    return (
        f"suite {request.selection.suite_name} on {request.backend.name}{relays};"
        f" ledgers: {' and '.join(declared) or 'none'}; inconclusive: {policy.inconclusive.value}{strict}"
    )


def _work(case: Case) -> str:
    return f"{case.id}, {case.scenario.duration_s:g} s, {len(case.plan.sends)} sends an arm"


def _case(prefix: str, case: Case, backend: Backend) -> Iterator[str]:
    """prefix: the start of the names of topics and groups."""
    scenario = case.scenario
    yield f"  checks: {', '.join(checks_planned(scenario))}"
    if backend.is_shared:  # topics matter only on a cluster that outlives the run
        suffixes = (*map(str, Arm), "warm") if scenario.group is None else (f"fed{_DRAWN}", "warm", "feeder-warm")
        for suffix in suffixes:
            yield f"  topic {prefix}-{suffix}: {scenario.queues_per_broker} queues on each of {', '.join(case.brokers)}"
        if scenario.group is not None:
            warm = f"and -w0 to -w{scenario.group.processes - 1} of its members' warm-up"
            for letter in LETTERS.values():
                yield f"  group {prefix}-{letter}{_DRAWN}, {warm}: subscription, offsets, %RETRY% and %DLQ% topics"
    for fault in scenario.faults:
        yield f"  fault: {fault_sentence(fault)}"
        yield from (f"    {line}" for line in backend.planned_commands(fault))
    if scenario.group is not None:
        yield from (f"  member: {event}" for event in scenario.group.membership)
    if case.attempt_timeout_ms:
        yield f"  an attempt may last {case.attempt_timeout_ms:,} ms: faults that outlast the setting last twice that at least"


def _left_out(choice: Choice) -> Iterator[str]:
    for name, reason in choice.left_out:
        yield f"left out: {name}: {reason}"


def _total(cases: Sequence[Case], choice: Choice, *, is_control_wanted: bool) -> str:
    """Number of cases and checks, and the time for the sends alone. Each case also creates topics and reads everything back."""
    sent_s = sum(case.scenario.duration_s for case in cases) * (2 if is_control_wanted else 1)
    controls = " and as many controls" if is_control_wanted else ""
    first = cases[0].id
    checks = count_planned([case.scenario for case in cases], str(first.baseline), str(first.candidate))
    left = f", {plural(len(choice.left_out), 'scenario')} left out" if choice.left_out else ""
    return f"in all: {plural(len(cases), 'case')}{controls}, {checks} checks{left}; {duration(sent_s)} of sending, the run takes longer"
