"""The causes of exceptions must be those of the rules."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Pause, Story, Told
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]

BOTH_PAUSED = Story(
    settings=ClientSettings(send_msg_timeout_ms=300),
    pauses=(Pause("broker-a", 500, 2_000), Pause("broker-b", 500, 2_000)),
    sends=120,
)
"""4.2.0 gives up after three timeouts, 5.3.3 when the time for all attempts is spent."""


def names(cause: str | None) -> Callable[[Told], None]:
    def change(told: Told) -> None:
        told.sends = [replace(one, cause=cause) if one.error else one for one in told.sends]

    return change


@pytest.mark.parametrize("release", ["4.2.0", "5.3.3"])
def test_a_client_that_tells_the_rules_causes_conforms(release: str, new_run: NewRun) -> None:
    """MQClientException has the last attempt's exception as cause, the call's own timeout none."""
    run = new_run([BOTH_PAUSED], baseline=f"java:{release}", candidate=f"python:{release}")
    assert judged(run).exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize(
    ("release", "cause", "signature"),
    [
        ("4.2.0", None, "error.other-cause/expected=RemotingTimeoutException/seen=none/retry"),
        ("4.2.0", "IOException", "error.other-cause/expected=RemotingTimeoutException/seen=IOException/retry"),
        ("5.3.3", "RemotingTimeoutException", "error.other-cause/expected=none/seen=RemotingTimeoutException/first"),
    ],
)
def test_another_cause_is_exit_1(release: str, cause: str | None, signature: str, new_run: NewRun) -> None:
    """A missing, different or additional cause diverges."""
    run = new_run([BOTH_PAUSED], baseline=f"java:{release}", candidate=f"python:{release}", change=names(cause))
    judgement = judged(run)
    found = {one.signature for result in judgement.results for one in result.divergences}
    assert (judgement.exit_code, found) == (ExitCode.DIVERGES, {signature})


def test_a_client_whose_exceptions_have_no_causes_is_not_asked(new_run: NewRun) -> None:
    """The C++ client does not declare that it reports causes, so they are not compared."""
    run = new_run([BOTH_PAUSED], baseline="java:4.2.0", candidate="cpp:4.2.0", change=names(None))
    assert judged(run).exit_code is ExitCode.CONFORMS
