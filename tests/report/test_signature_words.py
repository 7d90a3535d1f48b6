"""Sentences for signatures, and their order."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.report.clusters import gravity
from rocketdiff.report.document import Document
from rocketdiff.report.words.signatures import _SENTENCES, title_of

README = Path(__file__).parents[2] / "reports/README.md"


@pytest.mark.parametrize(
    ("signature", "subject", "title"),
    [
        (
            "avoidance.used-avoided-broker/first",
            "java:5.3.3",
            "java:5.3.3 is back at a broker that java:4.7.1 would still avoid at a first attempt",
        ),
        (
            "content.property-missing/WAIT",
            "java:5.3.3",
            "messages of java:5.3.3 lack a property (WAIT)",
        ),
        (
            "rules/queue.out-of-turn/first",
            "java:4.7.1",
            "the rules do not explain what java:4.7.1 itself does (queue: out of turn, first)",
        ),
        (
            "timing.blocked-send-duration-differs",
            "java:5.3.3",
            "java:5.3.3 and java:4.7.1 differ in blocked send duration",
        ),
        ("protocol.bad-line", "java:5.3.3", "java:5.3.3: protocol: bad line"),
    ],
)
def test_a_signature_is_a_sentence(document: Document, signature: str, subject: str, title: str) -> None:
    """Each signature has a sentence as title; an unknown one is printed as words."""
    cluster = replace(document.clusters[0], signature=signature, subject=subject)
    assert title_of(cluster, document) == title


def test_every_signature_of_the_guide_has_a_sentence() -> None:
    """Every signature in the table of reports/README.md, or its family, has a sentence."""
    table = README.read_text("utf-8").partition("| Check | Asks")[2].partition("\n\n")[0]
    listed = set(re.findall(r"`([a-z]+\.[a-z-]+)(?:/…)?`", table))
    assert len(listed) > 25
    assert listed - set(_SENTENCES) == set()


def test_lost_messages_come_before_queues() -> None:
    """The order is messages, exceptions, attempts, avoidance, durations, then the rest."""
    told = (
        "loss.acknowledged-not-stored",
        "error.other-class",
        "attempts.went-on",
        "avoidance.x",
        "timing.x",
        "queue.x",
    )
    assert [gravity(one) for one in told] == [0, 1, 2, 3, 4, 5]
    assert gravity("rules/loss.body-damaged") == 0
