"""What a report says about the runs it judges, gathered from their ``run.json`` and scenario texts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from harness import __version__
from harness.core.events import Arm
from harness.core.run_info import CaseInfo, Guard, RunInfo, SubjectInfo
from harness.scenario import Scenario, fault_sentence, parse
from harness.traces.manifest import CaseEntry, RunManifest
from harness.traces.run_directory import RunDirectory


def describe(runs: Sequence[RunDirectory], *, took_s: float) -> RunInfo:
    """
    One description of all runs; subjects, suite and server are those of the first.

    took_s: seconds the judging took; the time of the runs themselves comes from their manifests.
    """
    manifests = [run.manifest for run in runs]
    first = manifests[0]
    return RunInfo(
        run="+".join(manifest.run for manifest in manifests),
        seed=first.seed,
        suite=first.suite,
        baseline=_subject(manifests, Arm.BASELINE),
        candidate=_subject(manifests, Arm.CANDIDATE),
        server_release=first.server_release,
        backend=first.backend,
        started_at=datetime.fromtimestamp(first.created_wall_ms / 1_000, UTC).isoformat(timespec="seconds"),
        took_s=took_s + sum(_ran_s(manifest) for manifest in manifests),
        machine=first.machine,
        cases=tuple(_case(entry) for manifest in manifests for entry in manifest.cases),
        reproduce=first.reproduce,
        rocketdiff=__version__,
        guards=tuple(_guards(manifests)),
        explain=f"rocketdiff explain {_as_typed(runs[0].path)} {{subject}} {{send}} --case {{case}}",
    )


def _subject(manifests: Sequence[RunManifest], arm: Arm) -> SubjectInfo:
    """The subject as asked for, with what it called itself, if it ever did."""
    told = (entry.arms[arm] for manifest in manifests for entry in manifest.cases if arm in entry.arms)
    hello = next((summary for summary in told if summary.client), None)
    name = manifests[0].subjects[arm]
    return SubjectInfo(name, hello.client if hello else "", hello.version if hello else "")


def _ran_s(manifest: RunManifest) -> float:
    ended = manifest.ended_wall_ms
    return 0.0 if ended is None else (ended - manifest.created_wall_ms) / 1_000


def _case(entry: CaseEntry) -> CaseInfo:
    scenario = parse(entry.scenario_text, f"the scenario stored with case {entry.number}")
    return CaseInfo(
        number=entry.number,
        case=entry.name,
        checks=entry.checks,
        establishes=scenario.establishes,
        covers=entry.covers,
        topology=entry.topology,
        settings=asdict(entry.settings),
        workload=_workload(scenario),
        faults=tuple(fault_sentence(fault) for fault in scenario.faults),
        episodes=scenario.episodes,
        sends_per_arm=entry.sends_planned,
    )


def _workload(scenario: Scenario) -> dict[str, object]:
    load = scenario.workload
    return {
        "call": load.call.value,
        "threads": load.threads,
        "rate_per_s": load.rate_per_s,
        "duration_s": load.duration_s,
        "body_bytes": list(load.body_bytes),
        "queues_per_broker": scenario.queues_per_broker,
    }


def _guards(manifests: Sequence[RunManifest]) -> Iterator[Guard]:
    for manifest in manifests:
        for entry in manifest.cases:
            yield from entry.guards


def _as_typed(path: Path) -> Path:
    """A path as a person here would type it: short where it is below the working folder."""
    path, here = path.resolve(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
