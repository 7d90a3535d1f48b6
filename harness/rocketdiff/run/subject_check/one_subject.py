"""Runs a plan with a single client on a cluster, with topics created for it."""

import time
import uuid
from collections.abc import Callable

from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.subjects.subject_process import SubjectProcess

HELD_MS = 3_600_000
"""Timeouts of a program that may stand at a breakpoint: an hour."""

_GO_AHEAD_NS = 50_000_000
"""From go to the first send: the time it takes to wake a thread."""


def new_setup(
    cluster: Cluster, settings: ClientSettings, queues_per_broker: int, *, ordered: bool = False
) -> SubjectSetup:
    """A setup with new topics, which are created. Raises ClusterError."""
    name = f"rocketdiff-{uuid.uuid4().hex[:12]}"
    setup = SubjectSetup(
        cluster.name_server_addresses,
        name,
        f"{name}-warm",
        name,
        name,
        settings,
        security=security_of(cluster).setup(),
        endpoints=tuple(cluster.grpc_endpoints.values()),
    )
    for topic in (setup.topic, setup.warm_topic):
        cluster.create_topic(topic, queues_per_broker, ordered=ordered)
    return setup


def carried_out(
    process: SubjectProcess,
    plan: Plan,
    setup: SubjectSetup,
    once_ready: Callable[[], object] | None = None,
    attempt_timeout_ms: int | None = None,
    *,
    on_go: Callable[[int], object] = lambda _: None,
    ahead_ns: int = _GO_AHEAD_NS,
) -> Transcript:
    """
    Run a plan on a subject that has said hello. Raises SubjectBroken.

    once_ready: called when the client is warm and knows its route, just before the first send. attempt_timeout_ms: for a
    client that does not obey the setting and does not state its timeout in its hello. on_go: called with the monotonic time at which
    the first send is due, ``ahead_ns`` later.
    """
    process.prepare(SendingTalk(plan, setup, attempt_timeout_ms or 0))
    process.await_ready()
    if once_ready is not None:
        once_ready()
    start_ns = time.monotonic_ns() + ahead_ns
    process.go(start_ns)
    on_go(start_ns)
    return process.await_done()


def unheard(_line: bytes) -> None:
    """Line listener for a process whose output is not journalled."""
