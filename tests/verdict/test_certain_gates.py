"""An exact divergence fails the run, unless the set-up was broken."""

from hypothesis import given
from hypothesis import strategies as st

from rocketdiff.core.answers.evidence import Evidence, Margin, OutagePair, PairedSample, Standing
from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.errors import ExitCode
from rocketdiff.verdict.judge import judge
from tests.verdict.builders import RUN

FOUND = Divergence(
    "queue.out-of-turn/first", "python:5.3.3", 2, Example(at(Place.SEND, 7, 0, 0), "paused", "queue 1", "queue 2")
)
BY_RULES = Divergence(
    "rules/queue.out-of-turn/first", "java:5.3.3", 1, Example(at(Place.SEND, 9, 0, 0), "calm", "queue 1", "queue 2")
)


@st.composite
def samples(draw: st.DrawFn) -> tuple[PairedSample, ...]:
    """No sample, or one with up to eight pairs of any durations."""
    durations = draw(st.lists(st.tuples(st.floats(1, 1e9), st.floats(1, 1e9)), max_size=8))
    pairs = tuple(OutagePair("r1", "a", place, *pair) for place, pair in enumerate(durations))
    return draw(st.sampled_from([(), (PairedSample("wait", Margin(1.2, "a fifth"), pairs, 4, "too few"),)]))


@st.composite
def evidence(draw: st.DrawFn, check: str, standings: st.SearchStrategy[Standing]) -> Evidence:
    """Any evidence of one check of the first case."""
    return Evidence(
        runs=("r1",),
        case="a",
        check=check,
        standing=draw(standings),
        reason=draw(st.sampled_from(["", "never came into the situation"])),
        severity=draw(st.sampled_from(Severity)),
        decisions=draw(st.integers(0, 400)),
        legal_share=draw(st.sampled_from([None, 0.1, 1.0])),
        divergences=draw(st.sampled_from([(), (FOUND,), (BY_RULES,), (FOUND, BY_RULES)])),
        samples=draw(samples()),
    )


ANY = st.sampled_from(Standing)
SOUND = st.sampled_from([Standing.DECISIVE, Standing.INDECISIVE, Standing.NOT_APPLICABLE])
POLICIES = st.builds(Policy, inconclusive=st.sampled_from(Inconclusive), strict=st.booleans())


@given(evidence("attempts", SOUND), evidence("loss", ANY), POLICIES)
def test_an_exact_divergence_is_must_and_exit_1(found: Evidence, other: Evidence, policy: Policy) -> None:
    """An exact divergence is MUST and exit 1 under any severity and policy, unless INVALID."""
    judgement = judge([found, other], RUN, policy)
    for item, result in zip((found, other), judgement.results, strict=False):
        certain = bool(item.divergences) and item.standing is not Standing.INVALID
        if certain:
            assert (result.verdict, result.severity) == (Verdict.DIVERGES, Severity.MUST)
    if found.divergences:
        assert judgement.exit_code is ExitCode.DIVERGES
        assert judgement.machine_line.startswith("VERDICT diverges new=")
        assert judgement.counts.new >= 1


@given(evidence("attempts", st.just(Standing.INVALID)))
def test_a_divergence_under_a_broken_set_up_never_counts(found: Evidence) -> None:
    """A divergence under a broken set-up is listed, but the verdict is INVALID."""
    (result, *_) = judge([found], RUN).results
    assert (result.verdict, result.divergences) == (Verdict.INVALID, found.divergences)


@given(evidence("attempts", st.just(Standing.NOT_APPLICABLE)))
def test_a_question_that_found_something_did_arise(found: Evidence) -> None:
    """A check that found a divergence is not reported as not applicable."""
    (result, *_) = judge([found], RUN).results
    if found.divergences:
        assert "never came" not in result.reason
