"""Gathers a report's description of the judged runs from their ``run.json`` and scenario texts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from rocketdiff import __version__
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.core.resources import resource
from rocketdiff.core.run_info import CaseInfo, Guard, RunInfo, SubjectInfo
from rocketdiff.core.tables.fault import FaultSpec, fault_counts
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.scenario import Scenario, line_of, parse, stretched, stretched_sentences
from rocketdiff.scenario.checks_asked import pooled_planned
from rocketdiff.traces.manifest import CaseEntry, CaseStatus, RunManifest
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName

SCENARIOS = "fixtures/scenarios"
"""Folder of the shipped scenarios, relative to the repository root."""

FED = ("rate_per_s", "duration_s", "body_bytes")
"""Figures of the feeder that a report states."""


def describe(runs: Sequence[RunDirectory], *, took_s: float) -> RunInfo:
    """
    Return one description of all runs; subjects, suite and server are those of the first.

    took_s: seconds of judging; the runs' own time comes from their manifests.
    """
    for run in runs:
        _require_faults(run)
    return describe_manifests([run.manifest for run in runs], [str(_as_typed(run.path)) for run in runs], took_s=took_s)


def describe_manifests(manifests: Sequence[RunManifest], folders: Sequence[str] = (), *, took_s: float) -> RunInfo:
    """The same from ``run.json`` alone, for runs without folders; ``folders``: relative paths as a user would type them."""
    first = manifests[0]
    placed = zip(manifests, folders or ("",) * len(manifests), strict=True)
    pairs = [(stored_scenario(entry), entry.checks) for each in manifests for entry in each.cases]
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
        cases=tuple(_case(entry, folder) for each, folder in placed for entry in each.cases),
        reproduce=first.reproduce,
        rocketdiff=__version__,
        pooled_checks=pooled_planned(pairs, first.subjects[Arm.BASELINE], first.subjects[Arm.CANDIDATE]),
        judging_source=judging_digest(),
        guards=tuple(_guards(manifests)),
        explain="rocketdiff explain {folder} {subject} {send} --case {case}",
        left_out=tuple(dict.fromkeys(skipped for manifest in manifests for skipped in manifest.left_out)),
        repeated=tuple((entry.name, entry.why_broken) for manifest in manifests for entry in manifest.repeated),
    )


def _subject(manifests: Sequence[RunManifest], arm: Arm) -> SubjectInfo:
    """The subject as requested, with the name and version from its hello, if there was one."""
    summaries = (entry.arms[arm] for manifest in manifests for entry in manifest.cases if arm in entry.arms)
    hello = next((summary for summary in summaries if summary.client), None)
    name = manifests[0].subjects[arm]
    source = manifests[0].sources.get(arm)
    label = source.label if source else ""
    return SubjectInfo(name, hello.client if hello else "", hello.version if hello else "", label)


def _ran_s(manifest: RunManifest) -> float:
    ended = manifest.ended_wall_ms
    return 0.0 if ended is None else (ended - manifest.created_wall_ms) / 1_000


def _require_faults(run: RunDirectory) -> None:
    for entry in run.manifest.cases:
        if entry.status is CaseStatus.COMPLETE:
            scenario = stretched(stored_scenario(entry), entry.attempt_timeout_ms)
            _require_planned(tuple(_as_named(scenario.faults, entry)), entry, run)


def stored_scenario(entry: CaseEntry) -> Scenario:
    """Return the scenario stored with a case; raises UsageError if it is invalid."""
    return _read(entry.scenario_text, entry.number)


@lru_cache(maxsize=1_024)
def _read(text: str, case: int) -> Scenario:
    """Cached, because every run of a suite has the same texts."""
    return parse(text, f"the scenario stored with case {case}")


def _case(entry: CaseEntry, folder: str) -> CaseInfo:
    scenario = stored_scenario(entry)
    named = replace(scenario, faults=tuple(_as_named(scenario.faults, entry)))
    sentences = stretched_sentences(named, entry.attempt_timeout_ms)
    scenario = stretched(scenario, entry.attempt_timeout_ms)
    return CaseInfo(
        number=entry.number,
        case=entry.name,
        checks=entry.checks,
        establishes=scenario.establishes,
        covers=entry.covers,
        topology=entry.topology,
        settings=asdict(entry.settings),
        workload=_workload(scenario),
        faults=sentences,
        fault_counts=fault_counts(scenario.faults),
        episodes=scenario.episodes,
        sends_per_arm=entry.sends_planned,
        scenario_file=_file_here(entry.scenario_file),
        checks_line=line_of(entry.scenario_text, "checks"),
        folder=folder,
        role=entry.role,
    )


def _file_here(file: str) -> str:
    """The scenario file's path if it exists here, else empty, as for shipped ones in another repository."""
    return file if file and Path(file).is_file() else ""


def _require_planned(faults: Sequence[FaultSpec], entry: CaseEntry, run: RunDirectory) -> None:
    """Require every fault of a complete case in its table, unless a guard reports that it did not take effect."""
    table = read_table(run, TableName.FAULTS, entry.number).select(["episode", "node"]).to_pylist()
    recorded = {(row["episode"], row["node"]) for row in table}
    failed = {guard.name for guard in entry.broken_guards}
    for fault in faults:
        if (fault.episode, fault.node) not in recorded and f"fault-{fault.episode}" not in failed:
            raise TraceError(
                f"the {fault.kind} of {fault.node} that the scenario of case {entry.number} asks for",
                seen=f"no such fault in {TableName.FAULTS}",
                hint="copy the whole run directory again",
            )


def _as_named(faults: Sequence[FaultSpec], entry: CaseEntry) -> Iterator[FaultSpec]:
    """The faults with the case's broker names, which differ on an external cluster."""
    ours = topology_named(entry.topology).broker_names
    if entry.brokers and len(entry.brokers) != len(ours):
        raise TraceError(
            f"{len(ours)} brokers in case {entry.number}, as {entry.topology} has",
            seen=", ".join(entry.brokers),
            hint="restore run.json",
        )
    names = dict(zip(ours, entry.brokers, strict=True)) if entry.brokers else {}
    return (replace(fault, node=names.get(fault.node, fault.node)) for fault in faults)


def _workload(scenario: Scenario) -> dict[str, object]:
    """What the clients do; in a case about consumers also what the feeder sends."""
    fed = {name: scenario.workload.figures()[name] for name in FED} if scenario.role is ClientRole.CONSUMER else {}
    return {**scenario.work[scenario.role].figures(), **fed, "queues_per_broker": scenario.queues_per_broker}


def _guards(manifests: Sequence[RunManifest]) -> Iterator[Guard]:
    for manifest in manifests:
        if not manifest.has_digests:
            yield Guard(
                "integrity",
                held=False,
                expected="run and tables as they were written, by their digests",
                seen=f"could not be checked: {manifest.run} was recorded before there were digests (schema {manifest.schema})",
            )
        for entry in manifest.cases:
            yield from entry.guards


def file_named(source: str) -> str:
    """Return a scenario file's path for a report, without folders above the working directory."""
    path, shipped = Path(source).resolve(), resource(SCENARIOS).resolve()
    if path.is_relative_to(shipped):
        return f"{SCENARIOS}/{path.relative_to(shipped).as_posix()}"
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.name


def _as_typed(path: Path) -> Path:
    path, here = path.resolve(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
