"""The report of simulated scenarios, with the judge, formats and last line of a cluster run."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from rocketdiff import __version__
from rocketdiff.core.answers.evidence import Evidence, Standing, TraceCounts
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.verdict import Divergence, Example, Measure
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.case import CaseId
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.run_info import CaseInfo, RunInfo, SubjectInfo
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import fault_counts, fault_sentence
from rocketdiff.lab.scenario_scripts import SimulatedScenario
from rocketdiff.lab.script_comparison import ScriptComparison
from rocketdiff.releases.jdk import local_java
from rocketdiff.releases.machine import this_machine
from rocketdiff.report.document import build
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.report.formats.write import write_reports
from rocketdiff.simulation.comparison import AnswerDifference, difference_data
from rocketdiff.simulation.script import to_dict
from rocketdiff.verdict.judge import RunJudgement, judge

CHECK = "simulation"
"""The only check: every answer is equal, step by step."""


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """A simulated run. results: one per scenario with a script. reproduce: the command that repeats the run."""

    subjects: tuple[SubjectId, SubjectId]
    scenarios: Sequence[SimulatedScenario]
    results: Sequence[ScriptComparison]
    suite: str
    seed: int
    reproduce: str
    began: datetime
    took_s: float


def report(run: SimulatedRun, out: Path, *, quiet: bool) -> RunJudgement:
    """
    Judge the run, write report and scripts into a new folder below ``out``, and print the summary unless quiet.

    Raises EnvironmentMissing if the folder cannot be written.
    """
    info = _run_info(run)
    evidence = tuple(_evidence(run, info.run))
    judgement = judge(evidence, info)
    folder = (out / info.run).resolve()
    try:
        _write_scripts(run.scenarios, folder / "scripts")
    except OSError as error:
        raise EnvironmentMissing(f"to be able to write below {out}", seen=str(error)) from error
    document = build(info, judgement, Plots(), _counts(run))
    files = write_reports(document, folder)
    if not quiet:
        print_summary(document, Console(emoji=False), dict(files))
    return judgement


def _write_scripts(scenarios: Sequence[SimulatedScenario], folder: Path) -> None:
    for simulated in scenarios:
        if simulated.script is not None:
            file = folder / f"{simulated.name}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(
                json.dumps(to_dict(simulated.script), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


def _evidence(run: SimulatedRun, name: str) -> Iterator[Evidence]:
    """One piece of evidence per scenario; a scenario that needs a cluster is not applicable."""
    compared = {result.script.name: result for result in run.results}
    for simulated in run.scenarios:
        case = str(_case(simulated, run))
        if simulated.script is None:
            yield Evidence(
                (name,), case, CHECK, Standing.NOT_APPLICABLE, reason=f"only on a cluster: {simulated.live_only}"
            )
            continue
        result = compared[simulated.name]
        found = () if result.difference is None else (_divergence(result.difference, run.subjects),)
        standing = Standing.DECISIVE if result.answers or found else Standing.INDECISIVE
        answers = Measure("answers compared", result.answers, "count", result.answers)
        yield Evidence(
            (name,),
            case,
            CHECK,
            standing,
            reason="; ".join(simulated.notes),
            decisions=result.answers,
            divergences=found,
            measures=(answers,),
        )


def _divergence(difference: AnswerDifference, subjects: tuple[SubjectId, SubjectId]) -> Divergence:
    left, right = (json.dumps(value, ensure_ascii=False) for value in difference.values)
    kind = difference.compared.name.lower().replace("_", "-")
    example = Example(
        where=NOWHERE,
        phase=difference.place,
        expected=f"{difference.compared} {left}, as in {subjects[0]}",
        observed=f"{difference.compared} {right}",
        figures=difference_data(difference),
    )
    return Divergence(f"{CHECK}.{kind}", str(subjects[1]), 1, example)


def _run_info(run: SimulatedRun) -> RunInfo:
    left, right = run.subjects
    java, _ = local_java()
    return RunInfo(
        run=f"{run.began:%Y%m%d-%H%M%S}-simulated-{run.seed:08x}",
        seed=run.seed,
        suite=run.suite,
        baseline=SubjectInfo(str(left), left.client, left.release),
        candidate=SubjectInfo(str(right), right.client, right.release),
        server_release="scripted",
        backend="simulation",
        started_at=run.began.astimezone(UTC).isoformat(timespec="seconds"),
        took_s=run.took_s,
        machine=this_machine("" if java is None else f"JDK {java.version}"),
        cases=tuple(_case_info(number, each, run) for number, each in enumerate(run.scenarios, start=1)),
        reproduce=run.reproduce,
        rocketdiff=__version__,
    )


def _case_info(number: int, simulated: SimulatedScenario, run: SimulatedRun) -> CaseInfo:
    scenario = simulated.scenario
    return CaseInfo(
        number=number,
        case=str(_case(simulated, run)),
        checks=(CHECK,),
        establishes=scenario.establishes,
        covers=scenario.covers,
        topology=scenario.topology,
        settings=asdict(scenario.settings),
        workload={"queues_per_broker": scenario.queues_per_broker, "threads": scenario.workload.threads},
        faults=tuple(fault_sentence(fault) for fault in scenario.faults),
        fault_counts=fault_counts(scenario.faults),
        episodes=scenario.episodes,
        sends_per_arm=scenario.sends,
    )


def _case(simulated: SimulatedScenario, run: SimulatedRun) -> CaseId:
    return CaseId(simulated.name, *run.subjects)


def _counts(run: SimulatedRun) -> TraceCounts:
    """Counts of both arms together. Virtual time stores no messages, and attempts are not counted."""
    simulated = [each for each in run.scenarios if each.script is not None]
    sends = 2 * sum(each.scenario.sends for each in simulated)
    faults = sum(len(each.scenario.faults) for each in simulated)
    return TraceCounts(runs=1, cases=len(simulated), sends=sends, attempts=None, stored=0, foreign=0, faults=faults)
