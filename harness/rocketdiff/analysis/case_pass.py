"""
The pass over one case: all steps and all watchers in one reading, facts out. It runs in a Spark task or without Spark.

Steps, each a stream: sends of an arm → attempts in context → replayed → reconciled; then both arms aligned.
"""

from collections.abc import Iterator

import pyarrow as pa

from rocketdiff.analysis.case_trace import BATCH_ROWS, CaseTrace
from rocketdiff.analysis.checks.case_facts import UNKNOWABLE
from rocketdiff.analysis.checks.scene import Scene, Watcher
from rocketdiff.analysis.checks.sending.attempts import Attempts
from rocketdiff.analysis.checks.sending.avoidance import Avoidance
from rocketdiff.analysis.checks.sending.callbacks import Callbacks
from rocketdiff.analysis.checks.sending.connections_left import LeftByRule
from rocketdiff.analysis.checks.sending.error_kind import ErrorKind
from rocketdiff.analysis.checks.sending.failover_time import FailoverTime
from rocketdiff.analysis.checks.sending.held_up import HeldUp
from rocketdiff.analysis.checks.sending.outcomes import Outcomes
from rocketdiff.analysis.checks.sending.publish_lists import compare_publish_lists
from rocketdiff.analysis.checks.sending.queue_choice import QueueChoice
from rocketdiff.analysis.checks.sending.replay_checks import RULES, UNAVAILABLE
from rocketdiff.analysis.checks.sending.start_positions import StartPositions
from rocketdiff.analysis.checks.sending.timing import Timing
from rocketdiff.analysis.checks.storage.content import Content
from rocketdiff.analysis.checks.storage.delay import Delay
from rocketdiff.analysis.checks.storage.duplication import Duplication
from rocketdiff.analysis.checks.storage.loss import Loss, note_strays
from rocketdiff.analysis.checks.storage.order import Order
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.lanes import lane_bars
from rocketdiff.analysis.notebook import Notebook
from rocketdiff.analysis.pictures import Pictures
from rocketdiff.analysis.send_view import SendView
from rocketdiff.analysis.steps.aligned import aligned
from rocketdiff.analysis.steps.attempts_in_context import FaultTimes, attempts_in_context
from rocketdiff.analysis.steps.reconciled import StoredCopies, reconciled
from rocketdiff.analysis.steps.replayed import replayed
from rocketdiff.analysis.steps.rulebook import Rulebook, rulebook_for
from rocketdiff.core.events import Arm
from rocketdiff.core.knowable import unknowable
from rocketdiff.traces.schema import TableName


def judge_case(trace: CaseTrace, *, batch_rows: int = BATCH_ROWS) -> Iterator[CaseFact]:
    """Every fact of one case."""
    notebook = Notebook(trace.run, trace.entry.number, trace.entry.origin_ns or 0)
    for fault in trace.faults:
        notebook.note(fault)
    rulebook = rulebook_for(trace)
    scene = Scene(trace.entry, FaultTimes(trace.faults), notebook, rulebook.habits)
    _note_limits(rulebook, notebook)
    compare_publish_lists(trace, notebook)
    watchers: tuple[Watcher, ...] = (
        Pictures(scene),
        QueueChoice(scene),
        Attempts(scene),
        HeldUp(scene),
        Avoidance(scene),
        ErrorKind(scene),
        Loss(scene),
        Duplication(scene),
        Timing(scene),
        FailoverTime(scene),
        Callbacks(scene),
        Content(scene),
        Order(scene),
        Delay(scene),
        Outcomes(scene, {arm: rulebook.causes(trace, arm) for arm in Arm}),
        LeftByRule(scene, rulebook.may_leave_open),
        StartPositions(scene, trace),
    )
    baseline, candidate = (_arm(trace, arm, scene, rulebook, batch_rows) for arm in Arm)
    for send in aligned(baseline, candidate):
        for watcher in watchers:
            watcher.see(send)
    for watcher in watchers:
        watcher.end()
    for bar in lane_bars(trace, scene.times, notebook.differences(), notebook.origin_ns):
        notebook.note(bar)
    yield from notebook.facts()


def _note_limits(rulebook: Rulebook, notebook: Notebook) -> None:
    """What no rules are known for, and what cannot be known of clients with these rules."""
    if rulebook.missing:
        for arm in Arm:
            notebook.count(RULES, str(arm), "", UNAVAILABLE + rulebook.missing)
    for arm, rules in rulebook.rules.items():
        sending = rules.sending()
        for check, why in ({} if sending is None else unknowable(sending)).items():
            notebook.count(f"{UNKNOWABLE}{check}", str(arm), "", why)


def _arm(trace: CaseTrace, arm: Arm, scene: Scene, rulebook: Rulebook, batch_rows: int) -> Iterator[SendView]:
    """One arm's sends through all steps that look at one arm only."""
    stored = all_stored(trace, arm)
    if stored is None:
        scene.notebook.count("unread", str(arm), "", "queues")
    planned = trace.entry.sends_planned
    copies = None if stored is None else StoredCopies(stored, planned)
    if copies is not None:
        scene.notebook.count("stored", str(arm), "", "message", n=copies.rows)
        scene.notebook.count("foreign", str(arm), "", "message", n=copies.foreign)
        note_strays(arm, copies.strays(), scene)
    in_context = attempts_in_context(trace.sends(arm, batch_rows), scene.times)
    scheduled = trace.scheduled(arm)
    kept = None if scheduled is None else StoredCopies(scheduled, planned)
    return reconciled(replayed(in_context, rulebook.rules.get(arm)), copies, kept)


def all_stored(trace: CaseTrace, arm: Arm) -> pa.Table | None:
    """
    What the brokers hold of an arm's topic; None when not all of it was read back.

    Of delayed messages a part of it is what they keep back: without that a message that waits would look lost.
    """
    sends = trace.tables.get((TableName.SENDS, arm))
    levels = () if sends is None else sends.column("delay_level").drop_null().unique().to_pylist()
    return None if any(levels) and trace.scheduled(arm) is None else trace.stored(arm)
