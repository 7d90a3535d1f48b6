"""The stages of `rocketdiff campaign`: check, simulate, make missing runs, add them to the record, summarise."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocketdiff.campaign import measure, simulation
from rocketdiff.campaign.file_format import Campaign
from rocketdiff.campaign.finished_runs import exclusive_lock
from rocketdiff.campaign.measure import CampaignState, PrintLine
from rocketdiff.campaign.plan import CampaignEntry, PlannedRun
from rocketdiff.campaign.simulation import SimulatedSeed
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.text import machine_line as text
from rocketdiff.report.document import load
from rocketdiff.report.formats import html

if TYPE_CHECKING:
    from rocketdiff.campaign.recording import Recording


def make(
    campaign: Campaign, out: Path, record: str | None, *, print_line: PrintLine, at_most: int | None = None
) -> ExitCode:
    """
    Make or resume a campaign. Returns the exit code (see ``exit_code``).

    record: folder or URL, or None. Runs are added as they finish, including those that a killed command left out.
    """
    with exclusive_lock(out):
        recording = None if record is None else _recording(record, print_line)
        simulated = {} if campaign.simulation is None else simulation.simulate(campaign.simulation, out, print_line)
        measured = measure.run_missing(
            campaign.plan, out, print_line, on_change=recording or (lambda _: None), at_most=at_most
        )
        if recording is not None:
            recording(measured)
    answered = answers_of(measured)
    for line in lines_of(measured, answered, simulated):
        print_line(line)
    if recording is not None:
        print_line(f"what is new: {asking(recording.record, measured)}")
        print_line(
            f"a page of these runs: {shlex.join(['rocketdiff', 'record', 'page', '--record', recording.record, '--only', str(out)])}"
        )
    codes = [*(code for _, code in answered.values()), *(result.code for result in simulated.values())]
    is_whole = len(answered) == len(list(campaign.plan.runs())) and not (recording and recording.is_spoilt)
    print_line(machine_line(campaign, answered, simulated, out))
    return exit_code(codes, is_whole=is_whole)


def _recording(record: str, print_line: PrintLine) -> "Recording":
    from rocketdiff.campaign.recording import Recording  # noqa: PLC0415  # a campaign without a record needs no such packages

    return Recording(record, print_line)


def describe(campaign: Campaign, out: Path) -> Iterator[str]:
    """Each run of a campaign, and whether it exists."""
    if campaign.simulation is not None:
        there = simulation.find_finished(campaign.simulation, out)
        for seed in campaign.simulation.seeds:
            releases = len(campaign.simulation.releases)
            yield f"simulation of {releases} releases, seed {seed}: {'there' if seed in there else 'missing'}"
    yield from measure.describe(measure.find_finished(campaign.plan, out))


Answers = dict[tuple[CampaignEntry, PlannedRun], tuple[str, ExitCode]]
"""Verdict and exit code of each finished run, from its report."""


def answers_of(measured: CampaignState) -> Answers:
    """Read the reports."""
    reports = {key: load(measured.runs.directory(run)) for key, run in measured.finished.items()}
    return {key: (report.verdict.value, report.exit_code) for key, report in reports.items()}


def lines_of(measured: CampaignState, answered: Answers, simulated: dict[int, SimulatedSeed]) -> Iterator[str]:
    """The result of each run, in plan order."""
    for seed, result in sorted(simulated.items()):
        yield f"simulation, seed {seed}: {result.summary}"
    for entry, work in measured.plan.runs():
        key = entry, work
        if key in answered:
            page = measured.runs.directory(measured.finished[key]) / html.FILE_NAME
            yield f"{entry.spec}, {work.name}: {answered[key][0]}: {page}"
        else:
            yield f"{entry.spec}, {work.name}: missing: {measured.why_missing(entry, work)}"


def asking(record: str, measured: CampaignState) -> str:
    """The commands that ask the record what is new since the first of these runs."""
    runs = [run.run for run in measured.finished.values()]
    since = ["--since", min(runs)] if runs else []
    where = ["--record", record]
    judge = shlex.join(["rocketdiff", "record", "judge", *where])
    ask = shlex.join(["rocketdiff", "record", "regressions", *where, *since, "--fail-on", "new"])
    return f"{judge} && {ask}"


def exit_code(codes: Sequence[ExitCode], *, is_whole: bool) -> ExitCode:
    """
    The most severe answer. is_whole: every run was made and recorded.

    1: a run diverges, or the simulation differs. 5: nothing decisive ran. 2: a run is inconclusive, invalid or missing.
    3: only stale ledger entries. 0: everything conforms.
    """
    if ExitCode.DIVERGES in codes:
        return ExitCode.DIVERGES
    if set(codes) <= {ExitCode.NOTHING_DECISIVE}:
        return ExitCode.NOTHING_DECISIVE
    if not is_whole or not set(codes) <= {ExitCode.CONFORMS, ExitCode.STALE_LEDGER}:
        return ExitCode.INCONCLUSIVE
    return max(codes)


_WORDS = {
    ExitCode.CONFORMS: "conform",
    ExitCode.DIVERGES: "diverge",
    ExitCode.INCONCLUSIVE: "inconclusive",
    ExitCode.STALE_LEDGER: "stale",
    ExitCode.NOTHING_DECISIVE: "nothing-decisive",
}


def machine_line(campaign: Campaign, answered: Answers, simulated: dict[int, SimulatedSeed], out: Path) -> str:
    """Last line of the output, for programs."""
    codes = Counter(code for _, code in answered.values())
    counted = {word: codes[code] for code, word in _WORDS.items()}
    differ = sum(result.code is ExitCode.DIVERGES for result in simulated.values())
    seeds = {"simulated": len(simulated), "differ": differ} if campaign.simulation is not None else {}
    planned = len(list(campaign.plan.runs()))
    return text.machine_line("CAMPAIGN", planned=planned, made=len(answered), **counted, **seeds, folder=out)
