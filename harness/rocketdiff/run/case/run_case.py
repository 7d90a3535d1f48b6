"""Runs and seals one case of any role."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.events import CaseEnded, CaseStarted, Listener, emit
from rocketdiff.core.tables.checks import READS_WIRE
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.consuming.consuming_run import ConsumingRun
from rocketdiff.run.case.guards import guards_of
from rocketdiff.run.case.role_run import NotClaimed, NotSettled, RoleRun
from rocketdiff.run.case.sending.sending_run import SendingRun
from rocketdiff.run.case.wire_faults import needs_relays
from rocketdiff.scenario import Case
from rocketdiff.traces.manifest import LONGEST_STALL
from rocketdiff.traces.run_directory import CaseDirectory

ROLE_RUNS: Mapping[ClientRole, Callable[[CaseRun], RoleRun]] = {
    ClientRole.PRODUCER: SendingRun,
    ClientRole.CONSUMER: ConsumingRun,
}


def run_case(
    cluster: Cluster,
    directory: CaseDirectory,
    case: Case,
    pair: Pair,
    listeners: Sequence[Listener],
    *,
    is_wire_wanted: bool = False,
) -> None:
    """
    Run one case and seal it.

    A broken subject or an unproven fault is recorded in ``run.json`` and judged. A call that a client does not claim, and a group
    that does not settle, aborts only this case. Any other error aborts the case and is raised.

    is_wire_wanted: relays before both arms even if not needed, as a second witness.
    """
    began = time.monotonic()
    scenario = case.scenario
    number, name, role = directory.number, str(case.id), scenario.role
    emit(listeners, CaseStarted(number, name, len(case.plan.sends), scenario.episodes, scenario.duration_s))
    is_wire_wanted |= needs_relays(case.faults) or not READS_WIRE.isdisjoint(scenario.checks)
    run = CaseRun(cluster, directory, case, pair, listeners, is_wire_wanted)
    run.role = ROLE_RUNS[role](run)
    try:
        with ExitStack() as stack:
            run.run(stack)
        run.role.report_wire()
        run.role.read_back()
        directory.seal()
    except (NotClaimed, NotSettled) as reason:
        directory.abort(str(reason))
        emit(listeners, CaseEnded(number, name, role, 0, 0, time.monotonic() - began))
        return
    except BaseException as error:
        cause = run.cause_of(error)
        _abandon(directory, str(cause) or type(cause).__name__)
        if cause is not error:
            raise cause from error
        raise
    facts = run.measurements()
    guards = (*run.role.guards(), *guards_of(facts))
    measured = run.role.measured() | run.ends | {LONGEST_STALL: facts.stalls.longest_gap_ns}
    connections, resources = run.connections.seen, run.resources.seen
    measured |= {"clock_slip_ms": run.clocks.slip_ms}
    directory.complete(
        guards=guards, measured=measured, connections=connections, resources=resources, clock=run.clocks.seen
    )
    ended = run.role.operations()
    took_s = time.monotonic() - began
    emit(listeners, CaseEnded(number, name, role, ended[Arm.BASELINE], ended[Arm.CANDIDATE], took_s))


def _abandon(directory: CaseDirectory, reason: str) -> None:
    """Seal what has been recorded, so that it stays readable."""
    try:
        if directory.started:
            directory.seal()
    finally:
        directory.abort(reason)
