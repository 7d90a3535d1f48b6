"""What a conforming run does not exclude: one bound per situation."""

from dataclasses import replace

import msgspec
import pytest

from rocketdiff.core.answers.evidence import SpellCount
from rocketdiff.report.clusters import Weight
from rocketdiff.report.document import Document
from rocketdiff.report.words.gate_rates import unseen_rate
from rocketdiff.verdict.judge import RunVerdict

SPELLS = (
    SpellCount("fault latency off, one of several brokers", 10),
    SpellCount("fault latency on, every broker", 3),
    SpellCount("fault latency on, one of several brokers", 1),
)


def concluded(document: Document, verdict: RunVerdict, *weights: Weight) -> tuple[str, ...]:
    clusters = tuple(msgspec.structs.replace(document).clusters[0] for _ in weights)
    return unseen_rate(
        msgspec.structs.replace(
            document,
            verdict=verdict,
            traces=replace(document.traces, spells=SPELLS),
            clusters=tuple(replace(one, weight=weight) for one, weight in zip(clusters, weights, strict=True)),
        )
    )


def test_every_situation_has_its_own_bound(document: Document) -> None:
    """Each situation has its own bound: 1 − 0.05^(1/10) is 25.9 %, a single pause gives 95 %."""
    (output,) = concluded(document, RunVerdict.CONFORMS)
    assert output == (
        "No divergence in 14 spells of pauses that both clients ran into; a divergence in fewer of them than this may have"
        " been missed (at 95%): fault latency off, one of several brokers: 25.9% (n = 10); fault latency on, every broker:"
        " 63.2% (n = 3); fault latency on, one of several brokers: 95.0% (n = 1)"
    )


@pytest.mark.parametrize("verdict", [verdict for verdict in RunVerdict if verdict is not RunVerdict.CONFORMS])
def test_no_other_verdict_has_it(document: Document, verdict: RunVerdict) -> None:
    """Other verdicts have no such sentence, because no absence was shown."""
    assert concluded(document, verdict) == ()


@pytest.mark.parametrize("weight", [Weight.NEW, Weight.WARNING, Weight.VOID])
def test_it_is_never_shown_beside_a_divergence(document: Document, weight: Weight) -> None:
    """Beside a divergence the sentence is omitted, even if the divergence does not gate."""
    assert concluded(document, RunVerdict.CONFORMS, weight) == ()


def test_declared_divergences_are_excepted(document: Document) -> None:
    """Beside declared divergences the sentence is about undeclared ones."""
    (output,) = concluded(document, RunVerdict.CONFORMS, Weight.DECLARED)
    assert output.startswith("No undeclared divergence in 14 spells of pauses")
