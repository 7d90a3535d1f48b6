"""Signatures as sentences for a producer's owner; formats also show the identifier, for ledgers and searches."""

from rocketdiff.report.clusters import DivergenceCluster
from rocketdiff.report.document import Document

_SENTENCES = {
    "queue.out-of-turn": "{subject} takes a queue other than the one whose turn it is",
    "queue.mutated-list": "{subject} and {baseline} no longer agree on the list of queues: one of them has rewritten its own",
    "queue.other-publish-list": "{subject} publishes to another list of queues",
    "queue.begins-alike": "threads of {subject} begin at one place far too often to be random",
    "queue.result-names-other-queue": "the result that {subject} returns names a queue other than the one it sent to",
    "retry.returned-to-failed-broker": "{subject} retries on the broker that has just failed",
    "retry.left-its-queue": "{subject} retries an ordered send at another queue",
    "witness.queue-or-offset-wrong": "a message of {subject} is not stored where its result says",
    "avoidance.used-avoided-broker": "{subject} is back at a broker that {baseline} would still avoid",
    "avoidance.stayed-away-from-available-broker": "{subject} still avoids a broker that {baseline} would use again",
    "attempts.went-on": "{subject} makes one more attempt than {baseline} would",
    "attempts.stopped-early": "{subject} gives up where {baseline} would try again",
    "attempts.gave-up-before-timeout": "{subject} gives up before its timeout",
    "attempts.outlasted-timeout": "{subject} waits longer than its timeout",
    "attempts.call-held-up": "a call of {subject} that does not wait for an answer returns much later than {baseline}'s",
    "attempts.waited-for-an-answer": "{subject} waits for an answer to a one-way send",
    "attempts.went-on-after-success": "{subject} sends a message again that was acknowledged",
    "attempts.too-many": "{subject} makes more attempts than configured",
    "attempts.gave-up-early": "{subject} gives up before it has made as many attempts as configured",
    "attempts.none-for-a-message-said-to-be-sent": "{subject} reports a message as sent that it never sent",
    "error.success-though-every-attempt-failed": "{subject} reports success though every attempt failed",
    "error.failure-though-an-attempt-succeeded": "{subject} reports a failure though an attempt succeeded",
    "error.other-class": "{subject} throws a different exception than {baseline}",
    "error.other-cause": "an exception of {subject} has a different cause than {baseline}'s",
    "error.other-code": "{subject} fails with a different code than {baseline}",
    "error.other-status": "{subject} returns a different status than {baseline}",
    "error.result-incomplete": "{subject} returns a result without a status",
    "failover-time.failover-cause-differs": "only one of the two fails over while a broker is paused",
    "loss.acknowledged-not-stored": "a message that {subject} acknowledged is stored nowhere",
    "loss.one-way-not-stored": "a one-way message of {subject} is stored nowhere",
    "loss.body-damaged": "a message of {subject} is stored damaged",
    "loss.stored-after-its-acknowledgement": "{subject} acknowledges a message before it is stored",
    "loss.stray-message": "the topic of {subject} has a message that was never sent",
    "duplication.stored-more-than-attempted": "a message of {subject} is stored more often than it was sent",
    "duplication.stored-elsewhere-than-claimed": "a message of {subject} is stored where it was never sent",
    "content.property-missing": "messages of {subject} lack a property",
    "content.property-changed": "messages of {subject} carry a property with another value",
    "content.property-added": "messages of {subject} carry a property that was not requested",
    "content.property-differs": "messages of {subject} carry a different value of a property than those of {baseline}",
    "content.body-changed": "messages of {subject} have a different body than requested",
    "content.flag-differs": "messages of {subject} have a different flag than those of {baseline}",
    "content.born-after-its-call": "a message of {subject} is born after its call",
    "content.born-before-its-call": "a message of {subject} is born before its call",
    "content.key-differs-between-copies": "copies of one message of {subject} have several unique keys",
    "content.key-used-before": "two messages of {subject} have one unique key",
    "content.sys-flag-differs": "messages of {subject} have a different system flag than those of {baseline}",
    "outcomes.failed-without-cause": "sends of {subject} fail where nothing was wrong",
    "outcomes.acknowledged-by-a-stopped-broker": "{subject} reports that a broker stored a message while it was stopped",
    "outcomes.acknowledged-without-its-slave": "{subject} returns SEND_OK where the slave cannot have the message",
    "outcomes.recovered-late": "sends of {subject} fail for long after a proxy is back, or while another proxy is available",
    "outcomes.connections-left-open": "{subject} leaves connections open that {baseline} would not",
    "outcomes.connections-at-once": "{subject} holds many connections at once",
    "outcomes.connections-made-anew": "{subject} keeps opening new connections where nothing is wrong",
    "outcomes.more-often": "an outcome is more frequent for sends of {subject} than for those of {baseline}",
    "outcomes.less-often": "an outcome is less frequent for sends of {subject} than for those of {baseline}",
    "order.group-in-two-queues": "messages of a group from {subject} are stored in two queues",
    "order.stored-before-an-earlier-message": "messages of a key from {subject} are stored out of order",
    "callbacks.never-called": "{subject} never calls a callback",
    "callbacks.called-more-than-once": "{subject} calls a callback more than once",
    "delay.not-kept-back": "a delayed message of {subject} is not kept back",
    "delay.other-level": "a delayed message of {subject} is kept back under another level",
    "delay.not-delivered": "a delayed message of {subject} is never delivered",
    "delay.delivered-early": "a delayed message of {subject} is delivered early",
    "delay.delivered-to-another-queue": "a delayed message of {subject} is delivered to another queue",
}

_PLACES = {"first": " at a first attempt", "retry": " at a retry"}


def rule_title(signature: str) -> str:
    """Return the sentence without client names, for lists of rules; empty if there is none."""
    name = signature.removeprefix("rules/").partition("/")[0]
    pattern = _SENTENCES.get(name, "")
    return pattern.format(subject="the client", baseline="the baseline")


def title_of(cluster: DivergenceCluster, document: Document) -> str:
    """Return one sentence without a full stop; a client's name at its start keeps its lower case."""
    baseline = document.run.baseline.subject
    signature = cluster.signature
    if signature.startswith("rules/"):
        return (
            f"the rules do not explain what {cluster.subject} itself does ({_plain(signature.removeprefix('rules/'))})"
        )
    name, _, place = signature.partition("/")
    if name in _SENTENCES:
        sentence = _SENTENCES[name].format(subject=cluster.subject, baseline=_other(cluster, document))
        return sentence + (_PLACES.get(place) or (f" ({place.replace('/', ', ')})" if place else ""))
    if name.endswith("-differs"):
        return f"{cluster.subject} and {baseline} differ in {_plain(name.partition('.')[2].removesuffix('-differs'))}"
    return f"{cluster.subject}: {_plain(signature)}"


def _other(cluster: DivergenceCluster, document: Document) -> str:
    """The baseline is compared with its own rules."""
    baseline = document.run.baseline.subject
    return baseline if cluster.subject != baseline else "its rules"


def _plain(signature: str) -> str:
    return signature.replace(".", ": ", 1).replace("/", ", ").replace("-", " ")
