"""
Signatures: every way in which a client can differ in a send, in what is stored, or in how often something happens.

Titles of reports, their order, and the table of ``reports/README.md`` are made from this table. Not in it: breaches of the
line protocol (``subjects/README.md``), and statistical differences, which have the name of their sample.
"""

from dataclasses import dataclass

from rocketdiff.core.tables.checks import CHECKS, Concern

OF_RULES = "rules/"
"""Prefix of a signature of the baseline: our rules do not explain the client they were written from."""


@dataclass(frozen=True, slots=True)
class Signature:
    """
    One kind of difference.

    name: stable over seeds, times, queues and brokers; ledgers and searches use it. check: whose question it answers.
    sentence: a title with ``{subject}`` and ``{baseline}``, without a full stop. concern: if other than the check's.
    place: what a further part of the text names; empty if there is none, or only the attempt. by_comparison: the other client is the
    yardstick, not the rules.
    """

    name: str
    check: str
    sentence: str
    concern: Concern | None = None
    place: str = ""
    by_comparison: bool = False

    @property
    def ranked(self) -> Concern:
        """Its importance to the owner of a client."""
        return CHECKS[self.check].concern if self.concern is None else self.concern

    def text(self, place: str = "", *, of_rules: bool = False) -> str:
        """Return the full text of a divergence. place: further part; of_rules: about the baseline."""
        return f"{OF_RULES if of_rules else ''}{self.name}{'/' if place else ''}{place}"


OUT_OF_TURN = Signature(
    "queue.out-of-turn", "queue-choice", "{subject} takes a queue other than the one whose turn it is"
)
MUTATED_LIST = Signature(
    "queue.mutated-list",
    "queue-choice",
    "{subject} and {baseline} no longer agree on the list of queues: one of them has rewritten its own",
)
OTHER_PUBLISH_LIST = Signature(
    "queue.other-publish-list", "queue-choice", "{subject} publishes to another list of queues"
)
BEGINS_ALIKE = Signature(
    "queue.begins-alike",
    "queue-choice",
    "threads or retries of {subject} begin at one place far too often to be random",
    place="LEVEL",
)
RESULT_NAMES_OTHER_QUEUE = Signature(
    "queue.result-names-other-queue",
    "queue-choice",
    "the result that {subject} returns names a queue other than the one it sent to",
)
RESULT_WITHOUT_PLACE = Signature(
    "queue.result-without-place",
    "queue-choice",
    "the results that {subject} returns lack a place that those of {baseline} name",
    place="FIELD",
)
RETURNED_TO_FAILED_BROKER = Signature(
    "retry.returned-to-failed-broker",
    "queue-choice",
    "{subject} retries on the broker that has just failed",
    concern=Concern.BROKERS,
)
LEFT_ITS_QUEUE = Signature(
    "retry.left-its-queue",
    "queue-choice",
    "{subject} retries an ordered send at another queue",
    concern=Concern.BROKERS,
)
QUEUE_OR_OFFSET_WRONG = Signature(
    "witness.queue-or-offset-wrong", "queue-choice", "a message of {subject} is not stored where its result says"
)
USED_AVOIDED_BROKER = Signature(
    "avoidance.used-avoided-broker", "avoidance", "{subject} is back at a broker that {baseline} would still avoid"
)
STAYED_AWAY_FROM_AVAILABLE_BROKER = Signature(
    "avoidance.stayed-away-from-available-broker",
    "avoidance",
    "{subject} still avoids a broker that {baseline} would use again",
)
WENT_ON = Signature("attempts.went-on", "attempts", "{subject} makes one more attempt than {baseline} would")
STOPPED_EARLY = Signature("attempts.stopped-early", "attempts", "{subject} gives up where {baseline} would try again")
GAVE_UP_BEFORE_TIMEOUT = Signature(
    "attempts.gave-up-before-timeout", "attempts", "{subject} gives up before its timeout"
)
OUTLASTED_TIMEOUT = Signature("attempts.outlasted-timeout", "attempts", "{subject} waits longer than its timeout")
LATE_TIMEOUTS = Signature(
    "attempts.late-timeouts",
    "attempts",
    "{subject} regularly waits for silent brokers longer than its timeout, and {baseline} does not",
)
WAITS_LONGER_EACH_TIME = Signature(
    "attempts.waits-longer-each-time", "attempts", "{subject} waits longer for silent brokers with every timeout"
)
RETRIES_MORE_OFTEN = Signature(
    "attempts.more-often",
    "attempts",
    "{subject} tries again more often than {baseline} at a silent broker",
    place="WHAT",
    by_comparison=True,
)
RETRIES_LESS_OFTEN = Signature(
    "attempts.less-often",
    "attempts",
    "{subject} tries again less often than {baseline} at a silent broker",
    place="WHAT",
    by_comparison=True,
)
CALL_HELD_UP = Signature(
    "attempts.call-held-up",
    "attempts",
    "a call of {subject} that does not wait for an answer returns much later than {baseline}'s",
    place="MODE",
    by_comparison=True,
)
WAITED_FOR_AN_ANSWER = Signature(
    "attempts.waited-for-an-answer", "attempts", "{subject} waits for an answer to a one-way send"
)
WENT_ON_AFTER_SUCCESS = Signature(
    "attempts.went-on-after-success", "attempts", "{subject} sends a message again that was acknowledged"
)
TOO_MANY = Signature("attempts.too-many", "attempts", "{subject} makes more attempts than configured")
GAVE_UP_EARLY = Signature(
    "attempts.gave-up-early", "attempts", "{subject} gives up before it has made as many attempts as configured"
)
NONE_FOR_A_MESSAGE_SAID_TO_BE_SENT = Signature(
    "attempts.none-for-a-message-said-to-be-sent", "attempts", "{subject} reports a message as sent that it never sent"
)
SUCCESS_THOUGH_EVERY_ATTEMPT_FAILED = Signature(
    "error.success-though-every-attempt-failed", "error-kind", "{subject} reports success though every attempt failed"
)
FAILURE_THOUGH_AN_ATTEMPT_SUCCEEDED = Signature(
    "error.failure-though-an-attempt-succeeded", "error-kind", "{subject} reports a failure though an attempt succeeded"
)
OTHER_CLASS = Signature(
    "error.other-class",
    "error-kind",
    "{subject} throws a different exception than {baseline}",
    place="expected=…/seen=…",
)
OTHER_CAUSE = Signature(
    "error.other-cause",
    "error-kind",
    "an exception of {subject} has a different cause than {baseline}'s",
    place="expected=…/seen=…",
)
OTHER_CODE = Signature(
    "error.other-code", "error-kind", "{subject} fails with a different code than {baseline}", place="expected=…/seen=…"
)
OTHER_STATUS = Signature(
    "error.other-status",
    "error-kind",
    "{subject} returns a different status than {baseline}",
    place="expected=…/seen=…",
)
RESULT_INCOMPLETE = Signature("error.result-incomplete", "error-kind", "{subject} returns a result without a status")
FAILOVER_CAUSE_DIFFERS = Signature(
    "failover-time.failover-cause-differs", "failover-time", "only one of the two fails over while a broker is paused"
)
ACKNOWLEDGED_NOT_STORED = Signature(
    "loss.acknowledged-not-stored", "loss", "a message that {subject} acknowledged is stored nowhere"
)
ONE_WAY_NOT_STORED = Signature("loss.one-way-not-stored", "loss", "a one-way message of {subject} is stored nowhere")
BODY_DAMAGED = Signature("loss.body-damaged", "loss", "a message of {subject} is stored damaged")
STORED_AFTER_ITS_ACKNOWLEDGEMENT = Signature(
    "loss.stored-after-its-acknowledgement", "loss", "{subject} acknowledges a message before it is stored"
)
STRAY_MESSAGE = Signature("loss.stray-message", "loss", "the topic of {subject} has a message that was never sent")
STORED_MORE_THAN_ATTEMPTED = Signature(
    "duplication.stored-more-than-attempted",
    "duplication",
    "a message of {subject} is stored more often than it was sent",
)
STORED_ELSEWHERE_THAN_CLAIMED = Signature(
    "duplication.stored-elsewhere-than-claimed",
    "duplication",
    "a message of {subject} is stored where it was never sent",
)
PROPERTY_MISSING = Signature(
    "content.property-missing", "content", "messages of {subject} lack a property", place="NAME"
)
PROPERTY_CHANGED = Signature(
    "content.property-changed", "content", "messages of {subject} carry a property with another value", place="NAME"
)
PROPERTY_ADDED = Signature(
    "content.property-added", "content", "messages of {subject} carry a property that was not requested", place="NAME"
)
PROPERTY_DIFFERS = Signature(
    "content.property-differs",
    "content",
    "messages of {subject} carry a different value of a property than those of {baseline}",
    place="NAME",
)
BODY_CHANGED = Signature(
    "content.body-changed", "content", "messages of {subject} have a different body than requested"
)
FLAG_DIFFERS = Signature(
    "content.flag-differs", "content", "messages of {subject} have a different flag than those of {baseline}"
)
BORN_AFTER_ITS_CALL = Signature(
    "content.born-after-its-call", "content", "a message of {subject} is born after its call"
)
BORN_BEFORE_ITS_CALL = Signature(
    "content.born-before-its-call", "content", "a message of {subject} is born before its call"
)
KEY_DIFFERS_BETWEEN_COPIES = Signature(
    "content.key-differs-between-copies",
    "content",
    "copies of one message of {subject} have several unique keys",
    place="UNIQ_KEY",
)
KEY_USED_BEFORE = Signature(
    "content.key-used-before", "content", "two messages of {subject} have one unique key", place="UNIQ_KEY"
)
SYS_FLAG_DIFFERS = Signature(
    "content.sys-flag-differs", "content", "messages of {subject} have a different system flag than those of {baseline}"
)
ACKNOWLEDGED_BEFORE_ITS_ANSWER = Signature(
    "outcomes.acknowledged-before-its-answer",
    "outcomes",
    "{subject} says SEND_OK before the broker has answered",
)
FAILED_WITHOUT_CAUSE = Signature(
    "outcomes.failed-without-cause", "outcomes", "sends of {subject} fail where nothing was wrong", place="END"
)
REFUSED_BEFORE_A_REQUEST = Signature(
    "outcomes.refused-before-a-request",
    "outcomes",
    "{subject} refuses messages that {baseline} sends",
    place="END",
)
REFUSED_OTHERWISE = Signature(
    "outcomes.refused-otherwise",
    "outcomes",
    "{subject} refuses messages with another exception, cause or code than {baseline}",
    concern=Concern.EXCEPTIONS,
    place="END",
)
SENT_THOUGH_REFUSED = Signature(
    "outcomes.sent-though-refused",
    "outcomes",
    "{subject} sends messages that {baseline} refuses",
    place="END",
)
ACKNOWLEDGED_BY_A_STOPPED_BROKER = Signature(
    "outcomes.acknowledged-by-a-stopped-broker",
    "outcomes",
    "{subject} reports that a broker stored a message while it was stopped",
)
ACKNOWLEDGED_WITHOUT_ITS_SLAVE = Signature(
    "outcomes.acknowledged-without-its-slave",
    "outcomes",
    "{subject} returns SEND_OK where the slave cannot have the message",
)
RECOVERED_LATE = Signature(
    "outcomes.recovered-late",
    "outcomes",
    "sends of {subject} fail for long after a proxy is back, or while another proxy is available",
    place="FAULT",
)
CONNECTIONS_LEFT_OPEN = Signature(
    "outcomes.connections-left-open",
    "outcomes",
    "{subject} leaves connections open that {baseline} would not",
    place="SERVER",
)
CONNECTIONS_AT_ONCE = Signature(
    "outcomes.connections-at-once", "outcomes", "{subject} holds many connections at once", place="SERVER"
)
CONNECTIONS_MADE_ANEW = Signature(
    "outcomes.connections-made-anew",
    "outcomes",
    "{subject} keeps opening new connections where nothing is wrong",
    place="SERVER",
)
OTHER_SERVERS = Signature(
    "outcomes.other-servers",
    "outcomes",
    "{subject} and {baseline} keep connections to different kinds of servers or ports",
    place="SERVER",
)
MORE_OFTEN = Signature(
    "outcomes.more-often",
    "outcomes",
    "an outcome is more frequent for sends of {subject} than for those of {baseline}",
    place="WHAT",
    by_comparison=True,
)
LESS_OFTEN = Signature(
    "outcomes.less-often",
    "outcomes",
    "an outcome is less frequent for sends of {subject} than for those of {baseline}",
    place="WHAT",
    by_comparison=True,
)
UNEQUAL_FAILURES = Signature(
    "outcomes.unequal-failures",
    "outcomes",
    "during the same pauses, the number of failures of {subject} is far from {baseline}'s",
    place="MORE_OR_FEWER",
    by_comparison=True,
)
SLOWER = Signature(
    "pace.slower",
    "pace",
    "messages of {subject} get through later than those of {baseline}",
    place="TIME",
    by_comparison=True,
)
THREADS_GROW = Signature("resources.threads-grow", "resources", "{subject} keeps more and more threads")
FILES_GROW = Signature("resources.files-grow", "resources", "{subject} leaves more and more files open")
MEMORY_GROWS = Signature("resources.memory-grows", "resources", "{subject} needs more and more memory")
PROCESSOR_GROWS = Signature("resources.processor-grows", "resources", "{subject} uses more and more of the processor")
BUSY_AT_REST = Signature(
    "resources.busy-at-rest", "resources", "{subject} keeps the processor busy when it has nothing to do"
)
NEVER_ENDS = Signature(
    "resources.never-ends", "resources", "the process of {subject} keeps running after its client was shut down"
)
ENDS_ALONE = Signature(
    "resources.ends-alone",
    "resources",
    "the process of {subject} ends once its client is shut down, and that of {baseline} keeps running",
)
GROUP_IN_TWO_QUEUES = Signature(
    "order.group-in-two-queues", "order", "messages of a group from {subject} are stored in two queues"
)
STORED_BEFORE_AN_EARLIER_MESSAGE = Signature(
    "order.stored-before-an-earlier-message", "order", "messages of a key from {subject} are stored out of order"
)
NEVER_CALLED = Signature("callbacks.never-called", "callbacks", "{subject} never calls a callback")
CALLED_MORE_THAN_ONCE = Signature(
    "callbacks.called-more-than-once", "callbacks", "{subject} calls a callback more than once"
)
ENDS_LATE = Signature(
    "attempts.ends-late", "attempts", "{subject} lets time pass between the attempts of a send, or after the last"
)
CALLED_LATE = Signature(
    "callbacks.called-late", "callbacks", "{subject} calls callbacks long after their answers have come"
)
NOT_KEPT_BACK = Signature("delay.not-kept-back", "delay", "a delayed message of {subject} is not kept back")
OTHER_LEVEL = Signature("delay.other-level", "delay", "a delayed message of {subject} is kept back under another level")
NOT_DELIVERED = Signature("delay.not-delivered", "delay", "a delayed message of {subject} is never delivered")
DELIVERED_EARLY = Signature("delay.delivered-early", "delay", "a delayed message of {subject} is delivered early")
DELIVERED_TO_ANOTHER_QUEUE = Signature(
    "delay.delivered-to-another-queue", "delay", "a delayed message of {subject} is delivered to another queue"
)
NEVER_DELIVERED = Signature(
    "delivered.never", "delivered", "a stored message is never handed to the group of {subject}, though later ones are"
)
NOT_YET_DELIVERED = Signature(
    "delivered.not-yet", "delivered", "the last stored messages of a queue are not handed to the group of {subject}"
)
OTHER_MESSAGE = Signature(
    "delivered.other-message", "delivered", "{subject} shows another message than the one that is stored at its offset"
)
DAMAGED = Signature("delivered.damaged", "delivered", "{subject} shows a message with another body than was stored")
OTHER_TOPIC = Signature(
    "delivered.other-topic", "delivered", "{subject} shows a message under another topic than the one it was sent to"
)
NOT_SUBSCRIBED = Signature(
    "delivered.not-subscribed",
    "delivered",
    "{subject} delivers a message with a tag that its group does not subscribe to",
)
WHILE_PAUSED = Signature(
    "delivered.while-paused", "delivered", "{subject} delivers messages of a queue that its application has paused"
)
CALL_FAILS = Signature(
    "delivered.call-fails", "delivered", "a seek, pause or resume fails in an application of {subject}"
)
OTHER_PROPERTIES = Signature(
    "delivered.other-properties",
    "delivered",
    "{subject} shows a message with other properties than were stored",
)
DELIVERED_AGAIN_WITHOUT_CAUSE = Signature(
    "redelivery.without-cause", "redelivery", "{subject} delivers a message again although it was consumed"
)
BEGAN_BELOW = Signature(
    "redelivery.below-the-committed-offset",
    "redelivery",
    "a member of {subject} begins a queue before the offset that was committed",
)
BEGAN_ABOVE = Signature(
    "redelivery.above-the-committed-offset",
    "redelivery",
    "a member of {subject} begins a queue behind messages that nobody has consumed",
)
NOT_WHERE_SOUGHT = Signature(
    "redelivery.not-where-sought",
    "redelivery",
    "{subject} goes on elsewhere in a queue than its application has sought",
)
LEFT_OUT = Signature(
    "redelivery.gap", "redelivery", "a member of {subject} leaves out a message of a queue it works on"
)
AFTER_GIVING_UP = Signature(
    "redelivery.after-giving-up", "redelivery", "a member of {subject} delivers messages of a queue it has given up"
)
PARALLEL_CALLS = Signature(
    "delivery-order.parallel-calls",
    "delivery-order",
    "a member of {subject} calls its listener twice at once for a queue",
)
TWO_MEMBERS_IN_TURN = Signature(
    "delivery-order.two-owners", "delivery-order", "two members of {subject} consume a queue in turn"
)
LOCK_NOT_AWAITED = Signature(
    "delivery-order.lock-not-awaited",
    "delivery-order",
    "a member of {subject} consumes a queue that is still locked for a killed one",
)
OVERTAKEN = Signature(
    "delivery-order.overtaken",
    "delivery-order",
    "a member of {subject} delivers a message before an earlier one of its queue",
)
REPEATED = Signature(
    "delivery-order.repeated",
    "delivery-order",
    "a member of {subject} repeats a message that did not fail, or too soon, or too often",
)
UNFINISHED_COMMITTED = Signature(
    "offsets.unfinished-committed", "offsets", "{subject} commits an offset above a message that it has not finished"
)
NOT_COMMITTED = Signature("offsets.not-committed", "offsets", "{subject} does not commit in time what it has consumed")
NOT_AT_THE_END = Signature(
    "offsets.not-at-the-end", "offsets", "{subject} leaves its group without committing what it has consumed"
)
COMMITTED_BY_ANOTHER = Signature(
    "offsets.committed-by-another", "offsets", "a member of {subject} commits an offset of a queue it does not work on"
)
WENT_BACK = Signature("offsets.went-back", "offsets", "an offset that {subject} has committed goes back")
PULLED_TWICE_AT_ONCE = Signature(
    "pulling.two-at-once", "pulling", "a member of {subject} pulls from a queue while a pull of it is under way"
)
PULLED_OTHER_OFFSET = Signature(
    "pulling.other-offset", "pulling", "a member of {subject} pulls from another offset than the last answer named"
)
PULLED_NOT_OWNED = Signature(
    "pulling.not-owned", "pulling", "a member of {subject} pulls from a queue that it does not work on"
)
PULLED_FROM_ANOTHER = Signature(
    "pulling.other-broker", "pulling", "a member of {subject} pulls from another broker than the rules say"
)
PULLED_TOO_SOON = Signature(
    "pulling.too-soon", "pulling", "a member of {subject} does not wait for as long as it should after a failed pull"
)
PULLED_TOO_LATE = Signature(
    "pulling.too-late",
    "pulling",
    "a member of {subject} pulls too late after an answer that was lost on the wire, or never",
)
COMMITS_AT_A_SLAVE = Signature(
    "pulling.commit-at-a-slave", "pulling", "a member of {subject} sends a slave an offset to commit"
)
RETRY_MISSING = Signature("retries.missing", "retries", "a message that failed at {subject} never comes back")
RETRY_TOO_OFTEN = Signature(
    "retries.too-many", "retries", "a message that failed at {subject} comes back more than once"
)
DEAD_TOO_EARLY = Signature(
    "retries.dead-too-early",
    "retries",
    "a message is in the dead letters of {subject} before it has failed often enough",
)
DEAD_TOO_LATE = Signature(
    "retries.dead-too-late", "retries", "a message comes back to {subject} though it has failed as often as it may"
)
RETRY_EARLY = Signature("retries.early", "retries", "a message that failed at {subject} comes back before its delay")
RETRY_OTHER_LEVEL = Signature(
    "retries.other-level", "retries", "a message that failed at {subject} is kept back under another delay level"
)
RETRY_OTHER_TIMES = Signature(
    "retries.other-times", "retries", "a message that comes back to {subject} shows another number of earlier failures"
)
RETRY_LATE = Signature("retries.late", "retries", "a message that failed at {subject} comes back long after its delay")
RETRIES_LATER = Signature(
    "retries.later",
    "retries",
    "messages that failed at {subject} come back later after their delays than {baseline}'s",
    by_comparison=True,
)
RETRY_NOT_DEAD = Signature(
    "retries.not-dead", "retries", "a message that failed at {subject} as often as it may is not among the dead letters"
)
RETRY_AT_ANOTHER_BROKER = Signature(
    "retries.other-broker", "retries", "{subject} hands a failed message to another broker than that which holds it"
)
RETRY_PROPERTY = Signature(
    "retries.property", "retries", "a message that failed at {subject} comes back with other properties", place="NAME"
)
RETRY_DAMAGED = Signature(
    "retries.damaged", "retries", "a message that failed at {subject} is handed back with another body"
)
HELD_TOO_MUCH = Signature(
    "flow-control.exceeded", "flow-control", "a member of {subject} takes more messages of a queue than it may hold"
)
STANDS_STILL = Signature(
    "flow-control.stands-still", "flow-control", "a member of {subject} that holds nothing of a queue does not go on"
)
LATE_IN_CALM = Signature(
    "promptness.late", "promptness", "a message for which {subject} waits reaches the listener seconds later"
)
MORE_OFTEN_LATE = Signature(
    "promptness.more-often-late",
    "promptness",
    "messages in calm are late at {subject} more often than at {baseline}",
    by_comparison=True,
)
NEVER_JOINED = Signature("consumption.never-joined", "consumption", "a member of {subject} does not join its group")
LEAVE_FAILS = Signature(
    "consumption.leave-fails",
    "consumption",
    "a member of {subject} dies, or throws, when its consumer is shut down",
    place="ERROR",
)
BATCH_TOO_LARGE = Signature(
    "consumption.batch-too-large",
    "consumption",
    "{subject} hands more messages to one call of the listener than it is set to",
)
TOO_MANY_CALLS = Signature(
    "consumption.too-many-calls",
    "consumption",
    "a member of {subject} calls its listener in more threads at once than it is set to",
)
KEPT_QUEUE_WAITS = Signature(
    "consumption.kept-queue-waits",
    "consumption",
    "messages of a queue that a member of {subject} keeps wait for seconds, though nothing is wrong",
)
WAITS_LONGER = Signature(
    "consumption.waits-longer",
    "consumption",
    "messages wait seconds longer for {subject} than for {baseline} where an application pauses, resumes and seeks",
    by_comparison=True,
)
LEAVES_LATER = Signature(
    "consumption.leaves-later",
    "consumption",
    "{subject} takes seconds longer than {baseline} to shut down a member",
    by_comparison=True,
)
NEVER_SETTLED = Signature(
    "allocation.never-settled", "protocol", "the queues of {subject}'s group never settle, while {baseline}'s do"
)
OTHER_RESULT = Signature(
    "allocation.other-result",
    "allocation",
    "a member of {subject} computes another share of the queues than the rules say",
)
OTHER_IDS = Signature(
    "allocation.other-ids",
    "allocation",
    "a member of {subject} divides the queues among other members than its group has",
)
OTHER_QUEUES = Signature(
    "allocation.other-queues", "allocation", "a member of {subject} divides other queues than its topic has"
)
NO_OWNER = Signature(
    "allocation.no-owner", "allocation", "no member of {subject} works on a queue for longer than the rules allow"
)
TWO_OWNERS = Signature(
    "allocation.two-owners", "allocation", "two members of {subject} work on one queue for longer than the rules allow"
)
LATE_TAKEOVER = Signature(
    "allocation.late-takeover",
    "allocation",
    "a member of {subject} takes a queue, and begins to work on it seconds later",
)
TAKES_OVER_LATER = Signature(
    "allocation.takes-over-later",
    "allocation",
    "members of {subject} begin later than {baseline}'s to work on queues that they take",
    by_comparison=True,
)
OTHER_OWNER = Signature(
    "allocation.other-owner",
    "allocation",
    "a member of {subject} works on a queue that the rules give to another member",
)
LATE_ROUND = Signature(
    "allocation.late-round",
    "allocation",
    "a member of {subject} goes by an old list of members for longer than the rules allow",
)
IDLE_MEMBER_CONSUMES = Signature(
    "allocation.idle-member-consumes",
    "allocation",
    "a member of {subject} that has no share of the queues gets messages",
)
LATER_IN_CALM = Signature(
    "consumption.later",
    "consumption",
    "messages reach the listener of {subject} later than {baseline}'s",
    by_comparison=True,
)
RESUMES_LATER = Signature(
    "consumption.resumes-later",
    "consumption",
    "after restarts or pauses of a broker, {subject} gets its messages later than {baseline}",
    by_comparison=True,
)
RESUMES_SOONER = Signature(
    "consumption.resumes-sooner",
    "consumption",
    "after restarts of a broker, {subject} gets its messages sooner than {baseline}",
    by_comparison=True,
)

SIGNATURES = {value.name: value for value in tuple(vars().values()) if isinstance(value, Signature)}
"""By name, in the order of the table."""


def without_place(text: str) -> tuple[str, str]:
    """Return the name of a signature and its further part, from the full text of a divergence."""
    name, _, place = text.removeprefix(OF_RULES).partition("/")
    return name, place


def gravity(text: str) -> Concern:
    """Return how serious a divergence is; signatures without a row here rank as their check."""
    name, _ = without_place(text)
    if name in SIGNATURES:
        return SIGNATURES[name].ranked
    check = CHECKS.get(text.removeprefix(OF_RULES).partition(".")[0])
    return Concern.QUEUES if check is None else check.concern
