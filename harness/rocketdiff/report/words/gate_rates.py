"""
Error rates of the gate in words, with the conditions of their measurement, and what it finds of a bank of defective clients.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from rocketdiff.core.run_info import CaseInfo, RunInfo
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.report.clusters import Weight
from rocketdiff.report.document import Document
from rocketdiff.report.words.signs import plural
from rocketdiff.statistics.significance import excluded_rate
from rocketdiff.verdict.calibration import CONFIDENCE, Calibration, Controls, Found, Rate
from rocketdiff.verdict.defects_found import DefectsFound, SuiteFound
from rocketdiff.verdict.judge import RunVerdict


def defect_lines(found: DefectsFound | None) -> tuple[str, ...]:
    """Return one sentence about all suites; nothing without a measurement."""
    if found is None:
        return ()
    each = "; ".join(map(_suite, found.suites))
    return (
        f"Of a bank of {found.bank} defective clients of {len(found.kinds)} kinds, each with {plural(found.seeds, 'seed')}, {each}",
    )


def _suite(found: SuiteFound) -> str:
    missed = f" (not always: {', '.join(found.missed)})" if found.missed else ""
    return (
        f"suite {found.suite} finds {found.defects.seen} of the {found.defects.n} that have an opportunity in the {found.played} of its"
        f" {found.scenarios} scenarios that are played in virtual time{missed}"
    )


def table(found: DefectsFound) -> str:
    """Return the figures as a Markdown table."""
    head = (
        "| Suite | Scenarios played | Defects with an opportunity | Found with every seed | Trials found | 95 % interval | Not always found |",
        "|---|---|---|---|---|---|---|",
    )
    return "\n".join((*head, *map(_row, found.suites)))


def _row(found: SuiteFound) -> str:
    defects, trials = found.defects, found.trials
    share = trials.seen / max(1, trials.n)
    return (
        f"| {found.suite} | {found.played} of {found.scenarios} | {defects.n} | {defects.seen} | {trials.seen} of {trials.n} ({share:.1%})"
        f" | {trials.low:.1%} to {trials.high:.1%} | {', '.join(found.missed) or '–'} |"
    )


OLD_AFTER_DAYS = 365
"""A figure of last year is about another program; a ledger entry expires after half this time."""

MEASURED_FAULTS = {
    ClientRole.PRODUCER: frozenset({"paused_brokers"}),
    ClientRole.CONSUMER: frozenset({"paused_brokers", "killed_brokers"}),
}
"""
Faults of the control cases in the shipped measurements, by the names of ``core.tables.fault``.

Newer shapes (``calibration.shapes``) also kill brokers and make them refuse; add these faults once the file is measured again.
"""

MEASURED_TOPOLOGIES = frozenset({"two-masters"})
"""Topologies of those control cases."""

FEW = 20
"""Fewer quiet cases get a caveat: they do not even exclude one false alarm in seven (0 in 20: at most 13.9 %)."""

MODE_WORDS = {"sync": "synchronous", "async": "asynchronous", "oneway": "one-way"}

CONTROL_GUARDS = ("control", "control-pooled")
"""Guards of a run with control arms."""

UNKNOWN = (
    "How often this gate alarms falsely is not known: there is no fixtures/calibration.json (make calibrate writes one)"
)

UNKNOWN_OF_CONSUMERS = "How often it alarms falsely about consumers is not known"


def trust_lines(document: Document) -> tuple[str, ...]:
    """Return lines about the gate itself: measured rates, their origin, and their caveats."""
    lines = [*unseen_rate(document), *controls_lines(document)]
    for role, calibration in calibrations(document):
        if calibration is None:
            lines.append(_unknown(role))
            continue
        lines += calibration_lines(calibration)
        if found := caveats(calibration, document.run):
            lines.append(f"But {'; '.join(found)}")
    return (*lines, *defect_lines(document.defects))


def trust_briefly(document: Document) -> str:
    """Return one line: the rate of false alarms, and the caveats of this run."""
    return ". ".join(_briefly(role, calibration, document.run) for role, calibration in calibrations(document))


def is_measured(document: Document) -> bool:
    """True if the rates of every role of the run are known."""
    return all(calibration is not None for _, calibration in calibrations(document))


def calibrations(document: Document) -> Iterator[tuple[ClientRole, Calibration | None]]:
    """Yield the roles of a run, each with its rates."""
    known = {ClientRole.PRODUCER: document.calibration, ClientRole.CONSUMER: document.consumer_calibration}
    yield from ((role, known[role]) for role in document.run.roles)


def _unknown(role: ClientRole) -> str:
    return UNKNOWN if role is ClientRole.PRODUCER else UNKNOWN_OF_CONSUMERS


def _briefly(role: ClientRole, calibration: Calibration | None, run: RunInfo) -> str:
    if calibration is None:
        return _unknown(role)
    found = caveats(calibration, run)
    return "; but ".join((_false_alarms(calibration), *((", ".join(found),) if found else ())))


def controls_lines(document: Document) -> tuple[str, ...]:
    """Return lines about the run's own control cases: whether they were quiet; nothing without control cases."""
    controls = [guard for guard in document.run.guards if guard.name in CONTROL_GUARDS]
    if not controls:
        return ()
    loud = [guard.case or guard.name for guard in controls if not guard.held]
    if loud:
        return (f"Control cases raised an alarm, so their cases are invalid: {', '.join(loud)}",)
    return (f"Controls: the baseline beside itself, {plural(len(controls), 'guard')}, no alarm",)


def unseen_rate(document: Document) -> tuple[str, ...]:
    """
    Return the rates that a run without a divergence does not exclude, by number of spells of each situation.

    Empty beside an undeclared divergence. Situations are not added up: a divergence in one need not occur in another.
    """
    spells = document.traces.spells
    is_clean = all(cluster.weight is Weight.DECLARED for cluster in document.clusters)
    if document.verdict is not RunVerdict.CONFORMS or not is_clean or not spells:
        return ()
    divergence = "undeclared divergence" if document.clusters else "divergence"
    total = plural(sum(spell.n for spell in spells), "spell of pauses", "spells of pauses")
    missed = "; ".join(f"{spell.situation}: {excluded_rate(spell.n):.1%} (n = {spell.n})" for spell in spells)
    rates = f"a divergence in fewer of them than this may have been missed (at {CONFIDENCE:.0%}): {missed}"
    return (f"No {divergence} in {total} that both clients ran into; {rates}",)


def calibration_lines(calibration: Calibration) -> tuple[str, ...]:
    """Return false alarms, known divergences found again, and circumstances; one sentence each."""
    controls = calibration.controls
    lines = [_false_alarms(calibration), *_parts(controls)]
    if controls.alarms:
        kinds = dict.fromkeys(
            signature for alarm in controls.alarms for signature in alarm.signatures or (alarm.check,)
        )
        lines.append(f"False alarms seen: {', '.join(kinds)}")
    if calibration.sensitivity:
        lines.append(_found_again(calibration.sensitivity))
    lines.append(circumstances(calibration))
    return tuple(lines)


def _false_alarms(calibration: Calibration) -> str:
    controls = calibration.controls
    left = controls.cases - controls.alarms_per_case.n
    without = f"; {left} more without an answer" if left else ""
    runs = controls.alarms_per_run
    pooled = f"; with pooled statistics {runs.seen} in {runs.n} gate runs ({bound(runs)})" if runs.n else ""
    about = " about consumers" if calibration.role is ClientRole.CONSUMER else ""
    return (
        f"False alarms of this gate{about}: {controls.alarms_per_case.seen} in {controls.alarms_per_case.n} control cases"
        f" ({bound(controls.alarms_per_case)}){without}{pooled}"
    )


def _parts(controls: Controls) -> Iterator[str]:
    modes = [(MODE_WORDS.get(row.mode, row.mode), row.alarms) for row in controls.modes]
    clients = [(f"{row.client} beside {row.client}", row.alarms) for row in controls.clients]
    by_mode, by_client = (
        ", ".join(f"{name} {rate.seen} in {rate.n}" for name, rate in part) for part in (modes, clients)
    )
    if by_mode and by_client:
        yield f"By sending mode: {by_mode}; by client: {by_client}"
    elif by_client:
        yield f"By client: {by_client}"


def bound(rate: Rate) -> str:
    """For example ``at most 1.0 % at 95 %``."""
    return f"at most {rate.bound:.1%} at {CONFIDENCE:.0%}"


def _found_again(found: tuple[Found, ...]) -> str:
    """
    Per entry, never pooled: repeats of several entries in one run share its seed and cluster, so they are not independent.
    """
    always = [known.seen for known in found if known.seen.n and known.seen.seen == known.seen.n]
    sentence = f"Known divergences found again every time: {len(always)} of {len(found)} entries"
    if always:
        fewest = min(always, key=lambda rate: rate.n)
        sentence += f" (each in {fewest.n} repeats or more, which bound its rate by {fewest.low:.0%} from below)"
    rest = [known for known in found if known.seen not in always]
    return "; ".join((sentence, *map(_not_always, rest)))


def _not_always(known: Found) -> str:
    rate = known.seen
    return (
        f"{known.entry} in {rate.seen} of {rate.n} ({rate.low:.0%} to {rate.high:.0%})"
        if rate.n
        else f"{known.entry} undecided"
    )


def circumstances(calibration: Calibration) -> str:
    """Return when, with which versions and on which machine the rates were measured; they hold for little else."""
    machine = calibration.machine
    sources = len(calibration.sources)
    changed = f", the program changed {sources - 1} × under way" if sources > 1 else ""
    return (
        f"measured {calibration.first_at[:10]} to {calibration.last_at[:10]} with rocketdiff {calibration.rocketdiff}"
        f" on RocketMQ {calibration.server_release} ({calibration.backend}), {machine.processor or machine.system},"
        f" {machine.cores} cores, load {calibration.load_median:.1f}{changed}"
    )


def caveats(calibration: Calibration, run: RunInfo) -> tuple[str, ...]:
    """Return the differences between the circumstances of the measurement and of a run."""
    return tuple(_caveats(calibration, run))


def _caveats(calibration: Calibration, run: RunInfo) -> Iterator[str]:
    if calibration.rocketdiff != run.rocketdiff:
        yield f"measured with rocketdiff {calibration.rocketdiff}, this run is by {run.rocketdiff}"
    if calibration.server_release != run.server_release:
        yield f"measured on RocketMQ {calibration.server_release}, this run is on {run.server_release}"
    if calibration.backend != run.backend:
        yield f"measured on {calibration.backend}, this run is on {run.backend}"
    if (calibration.machine.processor, calibration.machine.cores) != (run.machine.processor, run.machine.cores):
        yield "measured on another machine"
    if run.judging_source and calibration.judging_sources and calibration.judging_sources != (run.judging_source,):
        yield "the part of rocketdiff that judges has changed since (the effect has not been measured)"
    yield from _unmeasured(calibration, run)
    yield from _hardly_measured(calibration, run)
    if (age := _age_days(calibration, run)) > OLD_AFTER_DAYS:
        yield f"{age} days old when this run began: measure again with `make calibrate`"


def _unmeasured(calibration: Calibration, run: RunInfo) -> Iterator[str]:
    cases = _cases(calibration, run)
    asked = {check for case in cases for check in case.checks}
    if foreign := sorted(asked - {rate.check for rate in calibration.controls.checks}):
        yield f"no control case was asked for {', '.join(foreign)}"
    hit = {name for case in cases for name, count in case.fault_counts.items() if count}
    if faults := sorted(hit - MEASURED_FAULTS[calibration.role]):
        yield f"no control case had {', '.join(faults).replace('_', ' ')}"
    if places := sorted({case.topology for case in cases if case.topology} - MEASURED_TOPOLOGIES):
        yield f"no control case ran on {', '.join(places)}"


def _cases(calibration: Calibration, run: RunInfo) -> tuple[CaseInfo, ...]:
    """Return the cases of a run that are about the role of a measurement."""
    return tuple(case for case in run.cases if case.role is calibration.role)


def _hardly_measured(calibration: Calibration, run: RunInfo) -> Iterator[str]:
    controls, is_about_sends = calibration.controls, calibration.role is ClientRole.PRODUCER
    if controls.alarms_per_case.n < FEW:
        yield f"only {controls.alarms_per_case.n} of its control cases were decided"
        return
    if not controls.clients or (is_about_sends and not controls.modes):
        yield "how many control cases each sending mode and each client had was not counted then"
        return
    modes = {row.mode: row.alarms for row in controls.modes}
    sent = sorted({str(case.workload["mode"]) for case in _cases(calibration, run) if "mode" in case.workload})
    for mode in sent if is_about_sends else ():
        yield from _few(modes.get(mode), f"used {MODE_WORDS.get(mode, mode)} sends")
    clients = {row.client: row.alarms for row in controls.clients}
    for client in dict.fromkeys(subject.subject.partition(":")[0] for subject in (run.baseline, run.candidate)):
        yield from _few(clients.get(client), f"ran {client} beside itself")


def _few(rate: Rate | None, did: str) -> Iterator[str]:
    if rate is None or not rate.n:
        yield f"no control case {did}"
    elif rate.n < FEW:
        yield f"only {plural(rate.n, 'control case')} {did} ({bound(rate)})"


def _age_days(calibration: Calibration, run: RunInfo) -> int:
    """On the day the run began, so that the same run always gives the same report."""
    ended, began = datetime.fromisoformat(calibration.last_at), datetime.fromisoformat(run.started_at)
    return (began.astimezone(UTC) - ended.astimezone(UTC)).days
