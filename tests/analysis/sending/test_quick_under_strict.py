"""A faithful client passes the suite quick under ``--strict``."""

from collections.abc import Callable

from maintenance.sensitivity.stories import is_played, scenarios_of, story_of
from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import judged_to_the_end


def test_every_question_of_the_pauses_is_answered(new_run: Callable[..., RunDirectory]) -> None:
    """Exit code 0, at least four outages in each of four pools, five sends that start anew in a fifth, and no gating check inconclusive."""
    paused = [one for one in scenarios_of("quick") if one.faults and is_played(one)]
    run = new_run([story_of(one) for one in paused])
    analysis = analyze([run.path], master=WITHOUT_SPARK)
    ended = judged_to_the_end(run, analysis, Policy(strict=True))
    left = [result for result in ended.judgement.results if result.verdict is Verdict.INCONCLUSIVE]
    assert all(one.severity is Severity.INFO for one in left), left
    assert ended.judgement.exit_code is ExitCode.CONFORMS, ended.judgement.machine_line
    pools = {
        (item.case.split("/")[2], item.check): item.decisions for item in analysis.evidence if "pooled" in item.case
    }
    assert min(pools.values()) >= 4, pools
    assert len(pools) == 5
