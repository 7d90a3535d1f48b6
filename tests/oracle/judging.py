"""Judges histories and returns short results."""

from typing import Any

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import history, routes


def judged(
    release: str,
    text: str,
    *lists: str,
    on: bool = False,
    timeout: int = 3_000,
    retries: int = 2,
    not_store_ok: bool = False,
) -> list[SendJudgement]:
    """Return the judgements of a history; default list "a4 b4"."""
    settings = ClientSettings(
        send_latency_fault_enable=on,
        send_msg_timeout_ms=timeout,
        retry_times_when_send_failed=retries,
        retry_another_broker_when_not_store_ok=not_store_ok,
    )
    return list(replay_for(release, settings, routes(*(lists or ("a4 b4",)))).judge_all(history(text)))


def signatures(release: str, text: str, *lists: str, **settings: Any) -> list[str]:
    """Return all signatures in order, "undecided" for an undecided send."""
    found: list[str] = []
    for one in judged(release, text, *lists, **settings):
        if one.undecided is not None:
            found.append("undecided")
        elif one.difference is not None:
            found.append(one.difference.signature)
    return found


def legal(judgements: list[SendJudgement]) -> list[list[int]]:
    """Return the legal queues of every choice of every send."""
    return [[decision.queues_legal for decision in one.decisions] for one in judgements]
