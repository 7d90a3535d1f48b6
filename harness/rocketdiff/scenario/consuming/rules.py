"""Rules over several fields of a scenario about consumers: what can be learned or proven."""

from collections.abc import Iterator, Sequence

from rocketdiff.core.consuming.knowable import Consuming, unanswerable
from rocketdiff.core.consuming.plan import (
    Commits,
    ConsumerCall,
    ListenerKind,
    ListenerOutcome,
    MemberChange,
    MessageModel,
    Mix,
)
from rocketdiff.core.sends.message import delay_s
from rocketdiff.core.tables.checks import CHECKS, asked_for
from rocketdiff.core.tables.consumer_settings import OF_LITE_PULL as OF_LITE_PULL_SETTINGS
from rocketdiff.core.tables.consumer_settings import OF_PUSH
from rocketdiff.core.tables.fault import ON_THE_WIRE, PAUSES, FaultKind, FaultSpec, RequestKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.documents.refusal import refused
from rocketdiff.documents.yaml_source import Location, YamlSource
from rocketdiff.scenario.consuming.file_format import ApplicationPart, ConsumerScenarioFile, MembershipPart, RulePart
from rocketdiff.scenario.consuming.group import event_of, group_of

FIRST_FAULT_S = 3.0
"""The group is settled then, and messages of every queue have been delivered."""

PULL_TIMEOUT_S = (28.0, 33.0)
"""A pull ends by its own timeout after 30 to 31 s: in the end of such a pause by chance."""

EXPIRES_S = 100.0
"""Brokers forget a member 120 s after its last heartbeat."""

LONGEST_ON_THE_WIRE_S = 30.0
"""Afterwards the locks of a member that renews none have run out, which is another question."""

LONGEST_HEARTBEAT_MS = 60_000

MOST_THREADS = 20
"""Smallest default of consume_thread_max; a client refuses to start with a larger consume_thread_min."""

LEAST_STAY_S = 1.0
"""A start and a shut-down take less, so the next event finds the member where the script has it."""

FIRST_RETRY_LEVEL = 3
"""The first retry has this level, each further one the next, unless the listener asks for another."""

OF_LITE_PULL = tuple(name for name in asked_for(ClientRole.CONSUMER) if CHECKS[name].judges_polls)
"""Checks that judge lite pull consumers; the others are about listeners, retries, locks, or threads that a push consumer has."""

OF_APPLICATION = ("delivered", "redelivery", "offsets", "allocation")
"""Checks beside calls of applications."""

OF_BROADCASTING = tuple(name for name in asked_for(ClientRole.CONSUMER) if CHECKS[name].judges_each_member)
"""Checks that judge each member by itself; the others compare members that share their queues and offsets."""

LAST_CALL_S = 3.0
"""From the last call of an application to the end of the feed: messages that follow show its effect."""

PAUSED_S = 4.0
"""Of a queue: what waits for a poll, and the pull under way, come at its beginning; most of it must bring nothing."""

OF_PULLS = ("pulling", "flow-control")
"""Checks that read offsets on the wire."""

IN_ORDER, OF_FAILED = "delivery-order", "retries"
"""The checks of failed messages: in order they hold their queue up, else they come back from the retry topic."""

_ORDERLY_ONLY = (ListenerOutcome.COMMIT, ListenerOutcome.ROLLBACK)

Flaw = tuple[Location, str, str, str]
"""Place, expected, seen, hint."""


def require_consumable(file: ConsumerScenarioFile, faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """Raise UsageError for fields that contradict each other."""
    for location, expected, seen, hint in (
        *_of_feed(file),
        *_of_lite_pull(file, faults),
        *_of_commits(file),
        *_of_assign(file),
        *_of_application(file, faults),
        *_of_checks_of_application(file),
        *_of_listener(file),
        *_of_times(file, faults),
        *_of_the_wire(file, faults),
        *_of_membership(file),
        *_of_numbers(file),
        *_of_mix(file),
        *_of_broadcasting(file),
        *_of_tags(file),
        *_of_checks(file, faults),
    ):
        raise refused(source.place, location, expected=expected, seen=seen, hint=hint)


def _of_feed(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    workload, topology = file.workload, TOPOLOGIES[file.topology]
    if topology.has_proxies:
        yield ("topology",), "a topology without proxies", file.topology, "consumers of remoting clients need none"
    is_plain = (workload.call, workload.mode) == ("queue", "sync") and not any(workload.delay_levels)
    if not is_plain or workload.arguments not in (None, "ascending"):
        seen = f"call: {workload.call}, mode: {workload.mode}, delay_level: {workload.delay_level}"
        hint = "the feeder names the queue of each message, so that both arms know where it is"
        yield ("workload",), "call: queue, mode: sync, arguments ascending, no delay_level", seen, hint
    brokers = len(topology.broker_letters)
    if workload.threads != brokers:
        hint = "a thread a broker: a paused one then holds up only its own messages"
        yield ("workload", "threads"), f"threads: {brokers}", str(workload.threads), hint


def _of_listener(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    consumers = file.consumers
    is_orderly = consumers.listener == ListenerKind.ORDERLY
    batch = getattr(consumers.settings, "consume_message_batch_max_size", None) or 1
    least = getattr(consumers.settings, "consume_thread_min", None) or 1
    most = getattr(consumers.settings, "consume_thread_max", None) or MOST_THREADS
    if least > most:
        hint = "a client does not start with more; set both"
        yield ("consumers", "settings", "consume_thread_min"), f"at most consume_thread_max: {most}", str(least), hint
    if not is_orderly and IN_ORDER in file.checks:
        yield ("checks",), f"listener: orderly for {IN_ORDER}", consumers.listener, "leave the check out"
    if is_orderly and OF_FAILED in file.checks:
        yield ("checks",), f"listener: concurrent for {OF_FAILED}", consumers.listener, f"ask for {IN_ORDER}"
    for number, rule in enumerate(consumers.rules):
        place = ("consumers", "rules", number)
        if rule.offset >= rule.every:
            yield (*place, "offset"), f"an offset below every: {rule.every}", str(rule.offset), "no message has it"
        if not is_orderly and (rule.outcome in _ORDERLY_ONLY or rule.suspend_ms is not None):
            yield place, "listener: orderly for commit, rollback and suspend_ms", consumers.listener, "choose the other"
        if is_orderly and (rule.outcome == ListenerOutcome.ACK_INDEX or rule.delay_level is not None):
            yield place, "listener: concurrent for ack-index and delay_level", consumers.listener, "choose the other"
        if rule.outcome == ListenerOutcome.ACK_INDEX and batch == 1:
            hint = "set consume_message_batch_max_size"
            yield (*place, "outcome"), "calls with several messages for ack-index", "one message a call", hint
        waits_s = 0 if is_orderly else _retries_s(rule)
        if waits_s > consumers.drain_s:
            hint = "raise drain_s, lower tries, or give a delay_level"
            yield place, f"retries that end within drain_s: {consumers.drain_s:g}", f"{waits_s} s of delays", hint


def _of_lite_pull(file: ConsumerScenarioFile, faults: Sequence[FaultSpec]) -> Iterator[Flaw]:
    """Such a member hands a message out once, by one thread, and asks for offsets and messages in ways of its own."""
    consumers = file.consumers
    named = consumers.settings.model_dump(exclude_none=True)
    is_lite_pull = consumers.listener == ListenerKind.LITE_PULL
    for name in sorted(named.keys() & (OF_PUSH if is_lite_pull else OF_LITE_PULL_SETTINGS)):
        expected = f"a setting of listener: {consumers.listener}"
        yield ("consumers", "settings", name), expected, name, "such a consumer has no such setting"
    if not is_lite_pull:
        return
    is_alone = consumers.assign or consumers.application or consumers.commits != Commits.AUTO
    if consumers.model != MessageModel.CLUSTERING and is_alone:
        expected = "model: clustering with assign, application and commits"
        yield ("consumers", "model"), expected, consumers.model, "each member of a broadcasting group has every queue"
    for number, rule in enumerate(consumers.rules):
        if rule.outcome != ListenerOutcome.SUCCESS:
            place = ("consumers", "rules", number, "outcome")
            yield place, "outcome: success for lite-pull", rule.outcome, "what a poll hands out is consumed"
    if others := [check for check in file.checks if check not in OF_LITE_PULL]:
        hint = "the others ask about listeners, retries and locks"
        yield ("checks",), f"checks: [{', '.join(OF_LITE_PULL)}] for lite-pull", ", ".join(others), hint
    works = consumers.work_ms or any(rule.work_ms for rule in consumers.rules)
    if works and "promptness" in file.checks:
        hint = "one thread polls: while it works on a message, those of every queue wait"
        yield ("checks",), "work_ms: 0 for promptness of lite-pull", "work", hint
    if wire := [fault for fault in faults if fault.kind in ON_THE_WIRE]:
        hint = "a pull without an answer takes a connection with it, or not: releases differ"
        yield ("faults",), "no fault on the wire for lite-pull", str(wire[0].kind), hint


def _of_commits(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    """Only one commits what polls hand out, and only polls hand out what is not yet committed."""
    consumers = file.consumers
    if consumers.commits != Commits.SYNC:
        return
    if getattr(consumers.settings, "auto_commit_interval_ms", None) is not None:
        hint = "the application commits, so that no poll does"
        yield ("consumers", "settings", "auto_commit_interval_ms"), "commits: auto", consumers.commits, hint
    if consumers.listener != ListenerKind.LITE_PULL:
        hint = "other consumers commit by themselves"
        yield ("consumers", "commits"), "listener: lite-pull for commits: sync", consumers.listener, hint


def _of_assign(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    """Each queue is that of one member, which is there all the time: nobody takes it over."""
    consumers, place = file.consumers, ("consumers", "assign")
    if not consumers.assign:
        return
    if consumers.listener != ListenerKind.LITE_PULL:
        yield place, "listener: lite-pull for assign", consumers.listener, "other consumers share the queues"
    if consumers.membership or len(consumers.assign) != consumers.members:
        hint = "a list a member, and no membership"
        yield place, f"the queues of {consumers.members} members that stay", f"{len(consumers.assign)} lists", hint
    if consumers.tags:
        yield ("consumers", "tags"), "no tags with assign", ", ".join(consumers.tags), "it gets every message"
    letters = TOPOLOGIES[file.topology].broker_letters
    whole = sorted(f"{letter}/{number}" for letter in letters for number in range(file.topic.queues_per_broker))
    named = sorted(queue for queues in consumers.assign for queue in queues)
    if named != whole:
        yield (
            place,
            f"each queue once: {', '.join(whole)}",
            ", ".join(named),
            "a queue without a member is not consumed",
        )
    if "allocation" in file.checks:
        yield ("checks",), "no allocation with assign", "allocation", "the application divides the queues"


def _of_application(file: ConsumerScenarioFile, faults: Sequence[FaultSpec]) -> Iterator[Flaw]:
    """A call must be about a queue of its member, at a time when nothing else changes what is consumed, and followed by messages."""
    consumers, place = file.consumers, ("consumers", "application")
    if not consumers.application:
        return
    for number, part in enumerate(consumers.application):
        if flaw := next(_of_call(part, (*place, number)), None):
            yield flaw
            return
    calls = group_of(consumers).application
    if consumers.listener != ListenerKind.LITE_PULL:
        yield place, "listener: lite-pull for application", consumers.listener, "no other consumer has these calls"
    if faults or consumers.membership or consumers.tags:
        seen = "faults" if faults else "membership" if consumers.membership else "tags"
        yield place, "no faults, membership and tags beside calls of applications", seen, "write two scenarios"
    if consumers.members > 1 and not consumers.assign:
        yield place, "assign, or one member", f"{consumers.members} members", "a member calls about its own queues"
    for call in calls:
        own = consumers.assign[call.member] if call.member < len(consumers.assign) else []
        if call.member >= consumers.members or (consumers.assign and str(call.queue) not in own):
            yield place, f"a queue of member {call.member}", str(call), "name the member that has it"
        if not FIRST_FAULT_S <= call.at_s <= file.workload.duration_s - LAST_CALL_S:
            expected = f"calls from {FIRST_FAULT_S:g} s to {LAST_CALL_S:g} s before the end of the feed"
            yield place, expected, str(call), "messages before and after it show its effect"
    yield from _of_pauses(file)


def _of_checks_of_application(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    if file.consumers.application and (others := [check for check in file.checks if check not in OF_APPLICATION]):
        hint = "a queue that is paused or sought waits in both groups"
        yield ("checks",), f"checks: [{', '.join(OF_APPLICATION)}] with application", ", ".join(others), hint


def _of_call(part: ApplicationPart, place: Location) -> Iterator[Flaw]:
    named = [call.value for call in ConsumerCall if getattr(part, call.value) is not None]
    if len(named) != 1:
        yield place, f"one of {', '.join(ConsumerCall)}", " and ".join(named) or "none", "write one call an entry"
    elif (part.seek is None) != (part.offset is None):
        yield (
            (*place, "offset"),
            "an offset of a seek, and of no other call",
            f"offset: {part.offset}",
            "see seek_to_begin",
        )


def _of_pauses(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    """Each pause is followed by the resumption of its queue, long enough after it."""
    paused: dict[str, float] = {}
    for call in group_of(file.consumers).application:
        queue, place = str(call.queue), ("consumers", "application")
        if call.call is ConsumerCall.PAUSE:
            if queue in paused:
                yield place, f"a resumption of {queue} before another pause", str(call), "leave it out"
            paused[queue] = call.at_s
        elif call.call is ConsumerCall.RESUME and call.at_s - paused.pop(queue, call.at_s) < PAUSED_S:
            hint = "the pull that is under way at a pause still brings messages"
            yield place, f"a pause of {queue} at least {PAUSED_S:g} s before", str(call), hint
    if paused:
        yield ("consumers", "application"), f"a resumption of {min(paused)}", "none", "its messages must come at last"


def _retries_s(rule: RulePart) -> int:
    """Seconds from the first failed delivery to the last retry."""
    if rule.outcome == ListenerOutcome.SUCCESS or rule.delay_level == -1:
        return 0
    levels = [rule.delay_level or FIRST_RETRY_LEVEL + retry for retry in range(rule.tries)]
    return sum(delay_s(min(level, 18)) for level in levels)


def _of_times(file: ConsumerScenarioFile, faults: Sequence[FaultSpec]) -> Iterator[Flaw]:
    consumers = file.consumers
    for fault in faults:
        if fault.kind is FaultKind.MOVE:
            hint = "use kind: kill; the group's brokers are watched at their first addresses"
            yield ("faults",), "no broker of consumers that moves", str(fault.kind), hint
        if fault.at_s < FIRST_FAULT_S:
            yield (
                ("faults",),
                f"no fault before {FIRST_FAULT_S:g} s",
                f"{fault.at_s:g} s",
                "let some messages come first",
            )
        least_s, most_s = PULL_TIMEOUT_S
        if fault.kind in PAUSES and least_s < (fault.for_s or 0) < most_s:
            hint = "a pull's own timeout of 30 to 31 s would fall into its end by chance"
            yield ("faults",), f"no pause between {least_s:g} and {most_s:g} s", f"{fault.for_s:g} s", hint
    heartbeat_ms = getattr(consumers.settings, "heartbeat_broker_interval_ms", None) or 0
    lasts_s = file.workload.duration_s + consumers.drain_s
    if heartbeat_ms > LONGEST_HEARTBEAT_MS and lasts_s > EXPIRES_S:
        expected = f"heartbeat_broker_interval_ms up to {LONGEST_HEARTBEAT_MS} in a case of {lasts_s:g} s"
        hint = "brokers forget a member 120 s after its last heartbeat"
        yield ("consumers", "settings", "heartbeat_broker_interval_ms"), expected, str(heartbeat_ms), hint


def _of_the_wire(file: ConsumerScenarioFile, faults: Sequence[FaultSpec]) -> Iterator[Flaw]:
    """A fault must hit requests that the group makes."""
    consumers = file.consumers
    is_orderly = consumers.listener == ListenerKind.ORDERLY
    is_clustering = consumers.model == MessageModel.CLUSTERING
    fails = any(rule.outcome != ListenerOutcome.SUCCESS for rule in consumers.rules)
    asked = {
        RequestKind.SEND_BACK: (fails and not is_orderly, "a concurrent listener with a failing rule"),
        RequestKind.OFFSETS: (is_clustering, "model: clustering, whose offsets brokers keep"),
        RequestKind.LOCK: (is_clustering and is_orderly, "listener: orderly and model: clustering"),
    }
    for fault in faults:
        if fault.kind not in ON_THE_WIRE:
            continue
        if fault.of is None:
            hint = f"of: one of {', '.join(RequestKind)}"
            yield ("faults",), "the requests of consumers that a fault on the wire hits", "no of", hint
            continue
        is_made, needed = asked.get(fault.of, (True, ""))
        if not is_made:
            yield ("faults",), f"{needed} for of: {fault.of}", "none", "such a group makes no such request"
        if (fault.for_s or 0) > LONGEST_ON_THE_WIRE_S:
            expected = f"no fault on the wire of consumers longer than {LONGEST_ON_THE_WIRE_S:g} s"
            yield ("faults",), expected, f"{fault.for_s:g} s", "locks and heartbeats run out meanwhile"


def _of_membership(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    """Each event must be one of a member that can do it, and somebody must be there at the end."""
    parts = list(enumerate(file.consumers.membership))
    for number, part in parts:
        if flaw := next(_of_event(part, ("consumers", "membership", number)), None):
            yield flaw
            return
    there = dict.fromkeys(range(file.consumers.members), 0.0)
    gone: dict[int, float] = {}
    killed: set[int] = set()
    for number, part in sorted(parts, key=lambda each: each[1].at_s):
        place, event = ("consumers", "membership", number), event_of(part)
        member, change = event.member, event.change
        if member in killed:
            hint = "let another member join: its process has been started in advance"
            yield place, f"no event of member {member} after its death", str(event), hint
            return
        source, target = (gone, there) if change is MemberChange.JOIN else (there, gone)
        if member in there if change is MemberChange.JOIN else member not in there:
            seen = f"it {'is there already' if member in there else 'is not there'} at {event.at_s:g} s"
            yield place, f"an event that member {member} can do", seen, "check the events before it"
            return
        if event.at_s - source.pop(member, 0.0) < LEAST_STAY_S:
            yield (*place, "at_s"), f"{LEAST_STAY_S:g} s between two events of a member", f"{event.at_s:g} s", "move it"
        (there if change is MemberChange.PAUSE else target)[member] = event.end_s
        if change is MemberChange.KILL:
            killed.add(member)
        if event.end_s >= file.workload.duration_s:
            hint = "nothing is fed any more"
            yield (*place, "at_s"), f"an end before {file.workload.duration_s:g} s", f"{event.end_s:g} s", hint
    if not there:
        yield ("consumers", "membership"), "a member that is there at the end", "none", "let one stay, or join again"


def _of_numbers(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    """Every number below the highest must join, as its process is started."""
    numbers = {part.join for part in file.consumers.membership if part.join is not None} | set(
        range(file.consumers.members)
    )
    missing = next(number for number in range(len(numbers) + 1) if number not in numbers)
    if missing < max(numbers):
        hint = "number the members without a gap"
        yield ("consumers", "membership"), f"a join of member {missing}", f"one of member {max(numbers)}", hint


def _of_mix(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    if file.consumers.mix != Mix.NONE and not group_of(file.consumers).mixed:
        yield ("consumers", "mix"), "two members at least", "one", "a group of one client is not mixed"


def _of_broadcasting(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    if file.consumers.model != MessageModel.BROADCASTING:
        return
    if others := [check for check in file.checks if check not in OF_BROADCASTING]:
        hint = "each member keeps its own offsets, in a file"
        yield ("checks",), f"checks: [{', '.join(OF_BROADCASTING)}] of a broadcasting group", ", ".join(others), hint
    for number, rule in enumerate(file.consumers.rules):
        if rule.outcome != ListenerOutcome.SUCCESS:
            place = ("consumers", "rules", number, "outcome")
            yield place, "outcome: success in a broadcasting group", rule.outcome, "a failed message does not come back"


def _of_tags(file: ConsumerScenarioFile) -> Iterator[Flaw]:
    tags, sent = file.consumers.tags, file.workload.tags or []
    if not tags:
        return
    if not set(tags) & set(sent):
        hint = "or no message is for the group"
        yield ("consumers", "tags"), "a tag of workload.tags", ", ".join(tags), hint
    if others := [check for check in file.checks if check in OF_PULLS]:
        hint = "offsets of such a group count its own messages, those of pulls all"
        yield ("checks",), f"no check of {', '.join(OF_PULLS)} with consumers.tags", ", ".join(others), hint


def _of_checks(file: ConsumerScenarioFile, faults: Sequence[FaultSpec]) -> Iterator[Flaw]:
    """A check that can never be decisive would look like a pass."""
    workload = file.workload
    case = Consuming(group_of(file.consumers), faults, workload.rate_per_s, workload.duration_s)
    for check in file.checks:
        if obstacle := unanswerable(check, case):
            yield ("checks",), f"a case in which {check} can be seen", obstacle, f"remove {check} from checks"


def _of_event(part: MembershipPart, place: Location) -> Iterator[Flaw]:
    named = [change.value for change in MemberChange if getattr(part, change.value) is not None]
    if len(named) != 1:
        hint = "write one event an entry"
        yield place, f"one of {', '.join(MemberChange)}", " and ".join(named) or "none", hint
        return
    is_pause = part.pause is not None
    if is_pause != (part.for_s is not None):
        hint = "only a pause ends by itself"
        yield (*place, "for_s"), "for_s of a pause" if is_pause else "no for_s", f"for_s: {part.for_s}", hint
    if named[0] in (MemberChange.KILL, MemberChange.PAUSE) and part.at_s < FIRST_FAULT_S:
        hint = "let some messages come first"
        yield (*place, "at_s"), f"no {named[0]} before {FIRST_FAULT_S:g} s", f"{part.at_s:g} s", hint
