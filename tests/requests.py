"""Requests for runs of published clients."""

from typing import Any

from rocketdiff.core.subject import SubjectId
from rocketdiff.run.request import RunRequest
from rocketdiff.subjects.registry import published


def asked(baseline: SubjectId, candidate: SubjectId, *arguments: Any, **options: Any) -> RunRequest:
    return RunRequest(published(baseline), published(candidate), *arguments, **options)
