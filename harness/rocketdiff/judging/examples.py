"""Computes the context of a report's examples from the judged runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.analysis.sending.send_facts import lane_attempt
from rocketdiff.analysis.sending.sends import sends_of
from rocketdiff.analysis.sending.steps.rulebook import ArmRules, is_asynchronous
from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.answers.where import Place
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.records.sending import Send
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.signatures import OTHER_SERVERS, SYS_FLAG_DIFFERS
from rocketdiff.judging.explain_message import explain_message
from rocketdiff.judging.explain_send import explain_traced
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.judging.ledgers import load as load_ledgers
from rocketdiff.ledger.apply import apply_ledger
from rocketdiff.ledger.model import Entry
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.report.clusters import DivergenceCluster, ExampleContext, KnownEntry
from rocketdiff.traces.run_directory import RunDirectory
from rocketmq_reference.dialects import RELEASES, dialect_of
from rocketmq_reference.rules.client.remoting_rules import NameServerScan, RemotingRules

EXAMPLES = 12
"""Clusters with a context: the first of a report. Each costs several replays of its case up to the example."""

SENDS_MOST = 20_000
"""A later example gets no context: a replay judges some 5,000 sends per second."""

NEIGHBOURS = 5
"""Sends shown before and after an example."""


def contexts_of(
    clusters: Sequence[DivergenceCluster],
    results: Sequence[CheckResult],
    policy: Policy,
    info: RunInfo,
    runs: Sequence[RunDirectory],
) -> tuple[ExampleContext, ...]:
    """
    Return one context for each of the first EXAMPLES clusters, in order.

    clusters: those of the results. A client without known rules gets a context without an explanation.
    """
    first = clusters[:EXAMPLES]
    known = _known(results, policy, info) if first else {}
    return tuple(_context(cluster, runs, known) for cluster in first)


def _known(results: Sequence[CheckResult], policy: Policy, info: RunInfo) -> dict[tuple[str, str, str], Entry]:
    """Entries of the shipped ledgers, by the (check, signature, subject) they would declare."""
    ledger = load_ledgers(LedgerChoice())
    entries = {entry.id: entry for entry in ledger.entries}
    applied = apply_ledger(ledger, results, info, policy)
    return {
        (result.check, found.signature, found.subject): entries[found.declared_by]
        for result in applied.results
        for found in result.divergences
        if found.declared_by in entries
    }


def _context(
    cluster: DivergenceCluster, runs: Sequence[RunDirectory], known: dict[tuple[str, str, str], Entry]
) -> ExampleContext:
    entry = known.get((cluster.check, cluster.signature, cluster.subject))
    entries = () if entry is None or cluster.declared_by else (KnownEntry(entry.id, entry.reason, entry.ref),)
    place = _place(cluster, runs)
    before, since = _ruled_boundary(cluster, runs)
    if place is None:
        return ExampleContext(cluster.fingerprint, str(cluster.weight), known=entries, since=since, before=before)
    trace, arm, run = place
    if not since:
        before, since = _boundary(trace, arm, run, cluster)
    return ExampleContext(
        fingerprint=cluster.fingerprint,
        weight=str(cluster.weight),
        explanation=_explanation(trace, arm, run, cluster),
        around=tuple(_around(trace, cluster)),
        known=entries,
        since=since,
        before=before,
    )


def _place(cluster: DivergenceCluster, runs: Sequence[RunDirectory]) -> tuple[CaseTrace, Arm, RunDirectory] | None:
    """The example's case and arm; None for a statistic, or an example too late in its case."""
    if not 0 <= cluster.example.where.number < SENDS_MOST:
        return None
    named = cluster.example.run
    for run in sorted(runs, key=lambda each: each.run != named):
        for entry in run.manifest.cases:
            if entry.name == cluster.example_case:
                arm = next((arm for arm in reversed(Arm) if run.subject(arm) == cluster.subject), None)
                return None if arm is None else (read_case(run, entry.number), arm, run)
    return None


def _explanation(trace: CaseTrace, arm: Arm, run: RunDirectory, cluster: DivergenceCluster) -> tuple[str, ...]:
    where = cluster.example.where
    try:
        if where.place is Place.MESSAGE:
            return tuple(explain_message(trace, run, arm, where.explain_argument))
        return tuple(explain_traced(trace, run, arm, where.number))
    except HarnessError:
        # The baseline's release has no rules, the send never returned, or the message is stored nowhere: the report shows the
        # observation only.
        return ()


def _around(trace: CaseTrace, cluster: DivergenceCluster) -> Iterator[LaneAttempt]:
    origin_ns, where = trace.entry.origin_ns or 0, cluster.example.where
    for arm in Arm:
        for send in sends_of(trace, arm):
            if send.thread == where.thread and abs(send.send - where.number) <= NEIGHBOURS:
                yield from (lane_attempt(send, attempt, origin_ns) for attempt in send.attempts)


def _boundary(trace: CaseTrace, arm: Arm, run: RunDirectory, cluster: DivergenceCluster) -> tuple[str, str]:
    """
    Bisect for two adjacent releases of which only the later one's rules explain the example; two empty strings if there are none.
    """
    baseline, candidate = (SubjectId.parse(run.subject(side)) for side in Arm)
    if arm is not Arm.CANDIDATE or baseline.rules is None or candidate.rules is None or is_asynchronous(trace):
        return "", ""
    between = _between(baseline.rules, candidate.rules)
    sends = tuple(view.row for view in sends_of(trace, arm) if view.row is not None)
    wanted = (cluster.example.where.thread, cluster.example.where.number)
    upto = next((send for send in sends if (send.thread, send.send) == wanted), None)
    if len(between) < 2 or upto is None:
        return "", ""
    seen = tuple(send for send in sends if send.start_ns <= upto.end_ns)
    low, high = 0, len(between) - 1
    if _explains(trace, arm, between[low], seen, wanted) or not _explains(trace, arm, between[high], seen, wanted):
        return "", ""
    while high - low > 1:
        middle = (low + high) // 2
        if _explains(trace, arm, between[middle], seen, wanted):
            high = middle
        else:
            low = middle
    return between[low], between[high]


def _ruled_boundary(cluster: DivergenceCluster, runs: Sequence[RunDirectory]) -> tuple[str, str]:
    """Two adjacent releases between which the rule behind a signature became the candidate's; empty strings if there are none."""
    rule = _RULED.get(cluster.signature)
    rules = [SubjectId.parse(runs[0].subject(arm)).rules for arm in Arm] if runs else []
    if rule is None or None in rules:
        return "", ""
    steps = pairwise(release for release in _between(*filter(None, rules)) if release in RELEASES)
    turns = [step for step in steps if len({rule(dialect_of(release).client.remoting) for release in step}) > 1]
    return turns[-1] if len(turns) % 2 else ("", "")  # an even number of turns ends where it began


_RULED: Mapping[str, Callable[[RemotingRules], bool]] = {
    SYS_FLAG_DIFFERS.text(): lambda rules: rules.names_compression,
    OTHER_SERVERS.text("broker-vip"): lambda rules: rules.vip_channel,
    OTHER_SERVERS.text("no-broker-vip"): lambda rules: rules.vip_channel,
    OTHER_SERVERS.text("name-servers"): lambda rules: rules.name_server_scan is not NameServerScan.NEVER,
    OTHER_SERVERS.text("no-name-servers"): lambda rules: rules.name_server_scan is not NameServerScan.NEVER,
}
"""Signatures that no replay explains, but one rule of the releases does."""


def _between(older: str, newer: str) -> tuple[str, ...]:
    """Releases from ``older`` to ``newer``; empty if the candidate is the older one or either is unpublished."""
    releases = client_releases()
    if older not in releases or newer not in releases:
        return ()
    return tuple(releases[releases.index(older) : releases.index(newer) + 1])


def _explains(trace: CaseTrace, arm: Arm, release: str, sends: Sequence[Send], wanted: tuple[int, int]) -> bool:
    shared = trace.entry.threads > 1 and trace.entry.settings.send_latency_fault_enable
    judgements = ArmRules(trace, arm, release, shared).judge_together(sends)
    found = next((judgement for judgement in judgements if (judgement.thread, judgement.send) == wanted), None)
    return found is not None and found.difference is None and found.undecided is None
