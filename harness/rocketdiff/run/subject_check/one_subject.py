"""One client alone at a cluster: topics of its own, and a plan that it carries out."""

import time
import uuid
from collections.abc import Callable

from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.subject_process import SubjectProcess

_GO_AHEAD_NS = 50_000_000
"""From the word to the first send: the time it takes to wake a thread."""


def new_setup(cluster: Cluster, settings: ClientSettings, queues_per_broker: int) -> SubjectSetup:
    """A setup with topics of its own, which are created; raises ClusterError."""
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
        cluster.create_topic(topic, queues_per_broker)
    return setup


def carried_out(
    process: SubjectProcess,
    plan: Plan,
    setup: SubjectSetup,
    once_ready: Callable[[], object] | None = None,
    attempt_timeout_ms: int | None = None,
) -> Transcript:
    """
    What the subject told of the plan, from after its hello until it is done.

    once_ready: called when the client is warm and knows its route, just before the first send. attempt_timeout_ms: of a client that
    does not obey the setting, where hello does not say it. Raises SubjectBroken.
    """
    process.prepare(plan, setup, attempt_timeout_ms or 0)
    process.await_ready()
    if once_ready is not None:
        once_ready()
    process.go(time.monotonic_ns() + _GO_AHEAD_NS)
    return process.await_done()


def unheard(_line: bytes) -> None:
    """For a process of which nothing is journalled."""
