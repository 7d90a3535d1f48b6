"""Signatures as sentences for a client's owner; formats also show the identifier, for ledgers and searches."""

import sys

from rocketdiff.core.answers.verdict import are_alike
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.core.tables.effects import effect_of
from rocketdiff.core.tables.signatures import OF_RULES, SIGNATURES, without_place
from rocketdiff.report.clusters import DivergenceCluster, ExampleContext
from rocketdiff.report.document import Document

_PLACES = {"first": " at a first attempt", "retry": " at a retry"}


_FREQUENCIES = {"outcomes.more-often": "more", "outcomes.less-often": "fewer"}
_ENDS = {
    "failed": "fail",
    "failed-at-first": "fail at first",
    "held-up": "are held up",
    "reserved": "are stored with a reserve",
    "sent-one-way-and-not-stored": "are sent one-way and not stored",
    "stored-twice": "are stored twice",
    "stored-with-a-reserve": "are stored with a reserve",
}
_WHERE = {"calm": "in calm", "most-of-calm": "in calm", "faults": "beside faults"}
"""The two parts of the place of a compared frequency, in words."""


def rule_title(signature: str) -> str:
    """Return the sentence without client names, for lists of rules; empty if there is none."""
    known = SIGNATURES.get(without_place(signature)[0])
    return "" if known is None else known.sentence.format(subject="the client", baseline="the baseline")


def title_of(cluster: DivergenceCluster, document: Document) -> str:
    """Return one sentence without a full stop; a client's name at its start keeps its lower case."""
    baseline = document.run.baseline.subject
    signature = cluster.signature
    if signature.startswith(OF_RULES):
        return (
            f"the rules do not explain what {cluster.subject} itself does ({_plain(signature.removeprefix('rules/'))})"
        )
    return signature_in_words(signature, cluster.subject, _other(cluster, document), baseline)


def signature_in_words(signature: str, subject: str, other: str, baseline: str) -> str:
    """Return a sentence without a full stop. other: what the client is measured by, the baseline or its rules."""
    name, place = without_place(signature)
    if name in _FREQUENCIES:
        end, _, where = place.partition("/")
        how, seen = _FREQUENCIES[name], _ENDS.get(end, f"end so: {_plain(end)}")
        return f"{how} sends of {subject} {seen} than of {other}, {_WHERE.get(where, where.replace('-', ' ').replace('/', ', '))}"
    if name in SIGNATURES:
        sentence = SIGNATURES[name].sentence.format(subject=subject, baseline=other)
        return sentence + (_PLACES.get(place) or (f" ({place.replace('/', ', ')})" if place else ""))
    if name.endswith("-differs"):
        return f"{subject} and {baseline} differ in {_plain(name.partition('.')[2].removesuffix('-differs'))}"
    return f"{subject}: {_plain(signature)}"


def yardstick_of(cluster: DivergenceCluster, document: Document) -> str:
    """Return what a client was measured by: the rules of the baseline's release, or the other client."""
    if _is_by_comparison(cluster.signature):
        return f"beside {_other(cluster, document)}"
    return f"by the rules of {document.run.baseline.subject}"


def explained_from(context: ExampleContext) -> str:
    """Return from which release on the rules explain the whole example, of which the named change may be a part."""
    return f"from {context.since} on; the rules of {context.before} do not explain it wholly"


_OF_CHOICES = frozenset({"queue-choice", "attempts", "avoidance"})
"""Checks of what a client decides; the others ask also when, how often, or with what content."""


def alike_note(cluster: DivergenceCluster, document: Document) -> str:
    """Return why an example counts in which both clients decide alike; empty if they do not, or if no choice was judged by a rule."""
    baseline = document.run.baseline.subject
    is_by_rules = not (_is_by_comparison(cluster.signature) or cluster.signature.startswith(OF_RULES))
    if (
        not is_by_rules
        or cluster.check not in _OF_CHOICES
        or cluster.subject == baseline
        or not are_alike(cluster.example.sides)
    ):
        return ""
    return (
        f"{baseline} did the same here, from a state of its own. It counts because its rules choose otherwise in the state"
        f" that {cluster.subject} was in; no example shows two different choices."
    )


def _is_by_comparison(signature: str) -> bool:
    known = SIGNATURES.get(without_place(signature)[0])
    return signature.endswith("-differs") if known is None else known.by_comparison


def _other(cluster: DivergenceCluster, document: Document) -> str:
    """Alone, the baseline is compared with its own rules."""
    baseline = document.run.baseline.subject
    if cluster.subject != baseline:
        return baseline
    return document.run.candidate.subject if _is_by_comparison(cluster.signature) else "its rules"


def _plain(signature: str) -> str:
    return signature.replace(".", ": ", 1).replace("/", ", ").replace("-", " ")


def signature_table() -> str:
    """Return the table of ``reports/README.md``: every signature by check, with its sentence."""
    rows = ["| Check | Signature | Effect | Meaning |", "|---|---|---|---|"]
    for check in CHECKS:
        for signature in (one for one in SIGNATURES.values() if one.check == check):
            place = f"/{signature.place}" if signature.place else ""
            rows.append(
                f"| `{check}` | `{signature.name}{place}` | {effect_of(signature.name)} | {rule_title(signature.name)} |"
            )
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(signature_table())
