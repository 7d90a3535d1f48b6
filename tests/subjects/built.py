"""Clients of other languages that were built here."""

import os
from pathlib import Path

import pytest

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.releases.programs.driver_builds import (
    OtherClient,
    attempt_timeout_ms_of,
    capabilities_of,
    missing_tools,
    release_of,
    rust_target,
)
from rocketdiff.subjects.registry import resolved
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import BUILD_VARIABLE


def require_build(client: OtherClient) -> None:
    """
    Skip without the client's tools, and Rust unless it was built here before.

    Its 360 crates take six minutes of processor time, and CI has an empty cache; a later build takes seconds.
    """
    if missing := missing_tools(client):
        pytest.skip(f"no {', '.join(missing)} on PATH")
    if "cargo" in client.tools and not rust_target(client.name).is_dir() and BUILD_VARIABLE not in os.environ:
        pytest.skip("the Rust client was never built here, which takes minutes; `make clients` builds and checks it")


def assert_hello_as_known(client: OtherClient, folder: Path) -> None:
    """The registry states the client's hello."""
    subject = resolved(f"{client.name}:{release_of(client)}")
    subject.fetch(None)
    with SubjectProcess(subject.program, CANDIDATE, folder / "hello", on_line=lambda _: None) as process:
        hello = process.await_hello()
    assert f"{hello.client}:{hello.version}" == subject.spec
    assert frozenset(hello.capabilities) == capabilities_of(client)
    assert hello.attempt_timeout_ms == attempt_timeout_ms_of(client)
