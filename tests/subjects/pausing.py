"""A broker's pause under a subject that sends."""

import time
from collections.abc import Callable

from rocketdiff.cluster.interface import Cluster
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import PATIENCE_S, await_that

_LEAD_NS = 50_000_000
"""For all threads of the subject to be ready when the first send is due."""


def through_a_pause(cluster: Cluster, subject: SubjectProcess, is_met: Callable[[Transcript], bool]) -> Transcript:
    """Send everything; after 20 sends pause broker-b until ``is_met``, or until a busy machine has missed all sends."""
    subject.go(time.monotonic_ns() + _LEAD_NS)
    so_far = subject.transcript
    await_that(lambda: len(so_far.sends) >= 20)
    cluster.pause("broker-b")
    await_that(lambda: is_met(so_far) or subject.is_over)
    cluster.resume("broker-b")
    return subject.await_done(PATIENCE_S)
