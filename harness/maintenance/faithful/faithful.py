"""A scenario with the same release's classes in both arms, judged to the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from maintenance.faithful.laboratory import arm_of, script_of
from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import Done, Hello
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultRecord, FaultSpec
from rocketdiff.judging.run_info import describe
from rocketdiff.protocol.records import encode_record
from rocketdiff.run.manifest import entry_of
from rocketdiff.scenario import Case, Scenario, expand
from rocketdiff.simulation.script.model import Script
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement, judge
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from tests.analysis.synthetic import MANIFEST, MS, ORIGIN_NS, ArmRecords

RELEASES = ("4.0.0-incubating", "4.2.0", "4.3.2", "4.6.1", "4.7.1", "4.9.8", "5.1.1", "5.1.4", "5.3.3", "5.5.0")
"""One per generation of asynchronous sends, the fault table and the timeout of a call."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario for one release; arms: both scripts, which differ in the client's random numbers."""

    seed: int
    release: str
    case: Case
    arms: tuple[Script, Script]


def trial(scenario: Scenario, release: str, seed: int) -> Trial:
    case = expand(scenario, SubjectId("java", release), SubjectId("python", release), seed)
    first, second = (script_of(scenario, seed, draw) for draw in (2 * seed, 2 * seed + 1))
    return Trial(seed, release, case, (first, second))


def run_of(trial: Trial, answers: Sequence[Sequence[str]], root: Path) -> RunDirectory:
    """A sealed run of both arms' answers."""
    scenario, case = trial.case.scenario, trial.case
    noise = Random(f"noise {trial.seed}")
    # Neither the laboratory nor the wire shows which thread of the client chose.
    on_wire = noise.random() < 0.2 or (scenario.workload.mode is SendMode.ASYNC and not _calls_itself(trial.release))
    subjects = {Arm.BASELINE: f"java:{trial.release}", Arm.CANDIDATE: f"python:{trial.release}"}
    manifest = replace(
        MANIFEST, run=f"run-{trial.seed}", seed=trial.seed, subjects=subjects, cases=(entry_of(1, case),)
    )
    directory = RunDirectory.create(root, manifest)
    folder = directory.case(1)
    folder.begin(case.plan, clock=ClockAnchor(ORIGIN_NS, ORIGIN_NS // MS), origin_ns=ORIGIN_NS)
    for arm, script, lines in zip(Arm, trial.arms, answers, strict=True):
        seen = arm_of(scenario, case.plan, script, lines, noise)
        client, version = subjects[arm].split(":")
        hello = Hello(1, client, version, () if on_wire else ("attempts",), 1, ORIGIN_NS)
        with folder.recorder(Member(arm)) as recorder:
            for record in (hello, *_records(seen, attempts=not on_wire), Done(len(seen.sends))):
                recorder.line(encode_record(record))
        if on_wire:
            with folder.witnessed(Member(arm)) as recorder:
                for record in (hello, *_records(seen, attempts=True), Done(len(seen.sends))):
                    recorder.line(encode_record(record))
        folder.write_stored(arm, seen.stored)
    for fault in scenario.faults:
        folder.write_fault(_happened(fault, noise))
    folder.seal()
    folder.complete()
    return directory


def _calls_itself(release: str) -> bool:
    return dialect_of(release).producer.asynchronous.runs_on is AsyncThread.CALLER


def judged(run: RunDirectory) -> RunJudgement:
    return judge(analyze([run.path], master=WITHOUT_SPARK).evidence, describe([run], took_s=0.0))


def alarm_of(trial: Trial, judgement: RunJudgement) -> str | None:
    """The divergences of a release from itself as text; None without any."""
    found = [
        f"  {result.check} {one.signature} × {one.count}, {one.example.where.operation}: {one.example.expected} | {one.example.observed}"
        for result in judgement.results
        for one in result.divergences
    ]
    if not found and judgement.exit_code is not ExitCode.DIVERGES:
        return None
    return "\n".join([f"seed {trial.seed}, {trial.release}: {judgement.machine_line}", *found])


def _records(seen: ArmRecords, *, attempts: bool) -> list[Record]:
    routes_and_attempts: list[Record] = [*seen.routes, *seen.attempts] if attempts else []
    return [*routes_and_attempts, *seen.sends, *seen.again]


def _happened(fault: FaultSpec, noise: Random) -> FaultRecord:
    """The fault as an injector records it, each instant between two readings of the clock."""

    def around(at_s: float) -> tuple[int, int]:
        at_ns = ORIGIN_NS + round(at_s * 1_000) * MS
        return at_ns - noise.randrange(3 * MS), at_ns + MS + noise.randrange(3 * MS)

    inject_ns, injected_ns = around(fault.at_s)
    record = FaultRecord(fault.episode, fault.kind, fault.node, inject_ns, injected_ns, injected_ns + 5 * MS)
    if fault.for_s is None:
        return record
    heal_ns, healed_ns = around(fault.at_s + fault.for_s)
    return replace(record, heal_ns=heal_ns, healed_ns=healed_ns, heal_proven_ns=healed_ns + 5 * MS)
