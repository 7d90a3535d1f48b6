"""Asynchronous sends with fault latency: only the queue choice cannot be judged."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.planting import ASYNC_WITH_LATENCY, Found, change_send, go_elsewhere, signatures
from tests.analysis.synthetic import MS, Told
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]

RELEASES = ("4.0.0-incubating", "4.2.0", "4.3.2", "5.3.3", "5.5.0")
"""From 4.7.0 to 5.3.1 a retry after a timeout has negative time left, which the scripted traces do not support."""


@pytest.mark.parametrize("release", RELEASES)
def test_faithful_clients_conform(new_run: NewRun, release: str) -> None:
    """Faithful clients conform although no witness sees when callbacks update the fault table."""
    run = new_run([ASYNC_WITH_LATENCY], baseline=f"java:{release}", candidate=f"python:{release}")
    assert judged(run).exit_code is ExitCode.CONFORMS


def test_the_choice_is_said_to_be_unknowable_where_it_was_planned(found: Found) -> None:
    """``queue-choice`` does not apply; only runs of older versions could plan it here."""
    asked = replace(ASYNC_WITH_LATENCY, checks=("queue-choice", "error-kind"))
    evidence = found(asked)["queue-choice"]
    assert evidence.standing is Standing.NOT_APPLICABLE
    assert "callbacks write the fault table" in evidence.reason
    assert evidence.divergences == ()


def insist(told: Told) -> None:
    """Retry a timed-out send; from 5.3.2 on no time is left for that."""
    number = next(one.send for one in told.sends if one.error is not None)
    go_elsewhere(told, number)
    change_send(
        told, number, lambda one: replace(one, error=None, cause=None, status="SEND_OK", end_ns=one.end_ns + 2 * MS)
    )


def test_a_message_sent_again_is_found(new_run: NewRun) -> None:
    """A forbidden retry fails the run: how a send ends does not depend on the fault table."""
    assert judged(new_run([ASYNC_WITH_LATENCY], change=insist)).exit_code is ExitCode.DIVERGES


def test_a_message_sent_again_is_an_attempt_too_many(found: Found) -> None:
    """``attempts`` finds a forbidden retry even if the case did not plan it."""
    unplanned = replace(ASYNC_WITH_LATENCY, checks=("error-kind",))
    assert signatures(found(unplanned, insist)) == {"attempts attempts.went-on/retry"}
