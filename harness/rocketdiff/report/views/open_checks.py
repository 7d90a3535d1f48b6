"""Explains why a run gives no answer: the most frequent reason of its open checks, and a remedy."""

from collections import Counter
from collections.abc import Iterator

from rocketdiff.core.sends.knowable import NOTHING_GOT_THROUGH
from rocketdiff.report.document import Document
from rocketdiff.report.views.page import AnswerView, unanswered
from rocketdiff.report.words.signs import plural, short_case
from rocketdiff.verdict.judge import RunVerdict

_OPEN = (RunVerdict.INCONCLUSIVE, RunVerdict.INVALID, RunVerdict.NOTHING_DECISIVE)

_REMEDIES = (
    ("no rules are known", "name a Java client or the reference as the baseline"),
    (NOTHING_GOT_THROUGH, "give the messages other contents, or the brokers other settings"),
    ("witness-", "client and relay disagree: what the relay recorded of the named send is in its wire.ndjson"),
    ("witness", "let the recording relay witness its attempts: --wire"),
    ("had not reached", "a scenario with a longer drain_s decides it: --suite consumers"),
    (
        "spells",
        "more pauses decide it: another suite, or several runs judged together (rocketdiff analyze RUN RUN --out FOLDER)",
    ),
    (
        "episode",
        "more pauses decide it: another suite, or several runs judged together (rocketdiff analyze RUN RUN --out FOLDER)",
    ),
    (
        "served-",
        "brokers missed a heartbeat, as happens by chance: add --last-failed to the command to repeat what has no answer",
    ),
    ("fault-on-time", "run it again on a machine with less load: faults came late"),
    ("guard", "run it again on a machine with less load; *Validity* names what did not hold"),
)
"""Part of a reason, and its remedy; the first match applies."""

_OTHERWISE = "the reasons are listed under *Without an answer*"


def why_open(document: Document) -> tuple[str, ...]:
    """Return sentences for a run without an answer, and for one with cases in which no message was stored."""
    return tuple(_why(document) if document.verdict in _OPEN else _empty_cases(document))


def _empty_cases(document: Document) -> Iterator[str]:
    reasons = {result.case: result.reason for result in document.results if NOTHING_GOT_THROUGH in result.reason}
    for case, reason in reasons.items():
        yield f"{short_case(case, document.run)}: {reason}."


def _why(document: Document) -> Iterator[str]:
    rows = [row for row in unanswered(document) if row.gates] or list(unanswered(document))
    if not rows:
        return
    reasons = Counter(map(_reason, rows))
    ((reason, count),) = [each for each in reasons.items() if each[0].startswith(NOTHING_GOT_THROUGH)][
        :1
    ] or reasons.most_common(1)
    yield f"{count} of {plural(len(rows), 'open check')}: {reason}."
    remedy = next((text for part, text in _REMEDIES if part in reason), _OTHERWISE)
    yield f"What to do: {remedy.replace('*', '')}."


def _reason(row: AnswerView) -> str:
    return (row.result.reason or row.sign.word).rstrip(".")
