"""Sentences for signatures, and their order."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.answers.verdict import SideExample
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.core.tables.effects import BY_CHECK, BY_SIGNATURE, Effect, effect_of
from rocketdiff.core.tables.signatures import SIGNATURES, gravity, without_place
from rocketdiff.report.document import Document
from rocketdiff.report.words.signatures import alike_note, signature_table, title_of

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
            "outcomes.more-often/stored-twice/most-of-calm",
            "java:5.3.3",
            "more sends of java:5.3.3 are stored twice than of java:4.7.1, in calm",
        ),
        (
            "outcomes.less-often/failed/while-a-broker-is-gone",
            "java:5.3.3",
            "fewer sends of java:5.3.3 fail than of java:4.7.1, while a broker is gone",
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


@pytest.mark.parametrize(
    ("signature", "has_note"),
    [
        ("queue.out-of-turn/first", True),
        ("avoidance.used-avoided-broker/first", True),
        ("flow-control.stands-still", False),
        ("allocation.late-takeover", False),
        ("rules/queue.out-of-turn/first", False),
    ],
)
def test_equal_choices_are_explained_where_choices_are_judged(
    document: Document, signature: str, has_note: bool
) -> None:
    """A message that comes late does so by the same choices."""
    cluster = document.clusters[0]
    sides = tuple(SideExample(arm) for arm in ("baseline", "candidate"))
    check = SIGNATURES[without_place(signature)[0].removeprefix("rules/")].check
    cluster = replace(
        cluster, check=check, signature=signature, subject="x:1", example=replace(cluster.example, sides=sides)
    )
    assert bool(alike_note(cluster, document)) is has_note


def test_the_table_of_the_guide_is_the_one_of_the_program() -> None:
    """The table of reports/README.md is up to date; `python -m rocketdiff.report.words.signatures` prints it."""
    published = README.read_text("utf-8").partition("<!-- signatures -->\n")[2].partition("<!-- end")[0]
    assert published == signature_table()
    assert published.count("\n") == len(SIGNATURES) + 2


@pytest.mark.parametrize(
    ("place", "effect"),
    [
        ("stored-twice/calm", Effect.TWICE),
        ("held-up/calm", Effect.LATE),
        ("sent-one-way-and-not-stored/calm", Effect.LOST),
        ("failed/while-a-broker-is-gone", Effect.FAILED),
    ],
)
def test_a_compared_frequency_has_the_effect_of_its_end(place: str, effect: Effect) -> None:
    """What happens more often decides the effect, not that it is compared."""
    assert effect_of(f"outcomes.more-often/{place}") is effect


def test_every_signature_has_a_check_a_sentence_and_an_effect() -> None:
    """Every signature belongs to a check, has an effect, and names the client in its sentence, or both clients."""
    assert set(BY_SIGNATURE) <= set(SIGNATURES)
    for name, signature in SIGNATURES.items():
        assert (signature.name, signature.check in CHECKS) == (name, True)
        assert "{subject}" in signature.sentence or signature.sentence.startswith("only one of the two")
        assert signature.check in BY_CHECK
        assert signature.text("x", of_rules=True) == f"rules/{name}/x"


def test_lost_messages_come_before_queues() -> None:
    """The order is messages, exceptions, attempts, avoidance, durations, then the rest."""
    reported = (
        "loss.acknowledged-not-stored",
        "error.other-class",
        "attempts.went-on",
        "avoidance.x",
        "timing.x",
        "queue.x",
    )
    assert [gravity(one) for one in reported] == [0, 1, 2, 3, 4, 5]
    assert gravity("rules/loss.body-damaged") == 0
