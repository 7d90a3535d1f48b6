"""``run.json`` as it is before the first case."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rocketdiff import __version__
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.judging.run_info import file_named
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.machine import this_machine
from rocketdiff.run.request import RunRequest, command_line
from rocketdiff.scenario import Case
from rocketdiff.scenario.checks_asked import checks_planned
from rocketdiff.subjects.subject import Subject
from rocketdiff.traces.manifest import CaseEntry, RunManifest, SubjectSource
from rocketdiff.traces.recorder import plan_digest


def manifest_of(
    request: RunRequest, seed: int, cases: Sequence[Case], left_out: tuple[tuple[str, str], ...] = ()
) -> RunManifest:
    """Record everything planned before anything starts, so that a case that never runs is noticed."""
    now = datetime.now(UTC)
    return RunManifest(
        run=f"{now:%Y%m%d-%H%M%S}-{seed:08x}",
        rocketdiff=__version__,
        created_wall_ms=int(now.timestamp() * 1_000),
        seed=seed,
        subjects={Arm.BASELINE: str(request.baseline), Arm.CANDIDATE: str(request.candidate)},
        server_release=request.backend.server_release,
        backend=request.backend.title,
        suite=request.selection.suite_name,
        reproduce=command_line(request, seed),
        shipped_ledgers=request.judging.ledgers.shipped,
        machine=this_machine(f"JDK {find_java(request.progress).version}"),
        cases=tuple(entry_of(number, case) for number, case in enumerate(cases, start=1)),
        left_out=left_out,
        sources={arm: _source(subject) for arm, subject in zip(Arm, request.subjects, strict=True)},
    )


def _source(subject: Subject) -> SubjectSource:
    own_ms, rules = subject.attempt_timeout_ms, subject.rules_given
    return SubjectSource(subject.spec, subject.label, subject.checksums(), own_ms, rules)


def entry_of(number: int, case: Case) -> CaseEntry:
    """The entry of a planned case."""
    scenario = case.scenario
    return CaseEntry(
        number=number,
        name=str(case.id),
        scenario=scenario.name,
        scenario_text=scenario.text,
        topology=scenario.topology,
        queues_per_broker=scenario.queues_per_broker,
        settings=scenario.settings,
        threads=scenario.workload.threads,
        sends_planned=len(case.plan.sends),
        duration_s=scenario.duration_s,
        plan_digest=plan_digest(case.plan),
        checks=checks_planned(scenario),
        brokers=case.brokers or topology_named(scenario.topology).broker_names,
        tolerances=scenario.tolerances,
        covers=scenario.covers,
        scenario_file=file_named(scenario.source),
        attempt_timeout_ms=case.attempt_timeout_ms,
        role=scenario.role,
        hits={str(fault.episode): fault.hit for fault in case.faults if fault.hit is not None},
    )
