"""A container's owner, and whether it lives."""

import os
from dataclasses import replace

import pytest

from rocketdiff.cluster.containers.cleanup import Owner, OwnerState, owner_state
from rocketdiff.cluster.containers.engine import RUN_LABEL

HERE = Owner(pid=100, started_ticks=5, boot="boot-2", pid_space="pid:[1]", machine="m")
LIVING = {7: 70}
HIDDEN = 9
"""Another user's process, hidden in /proc."""


def state(owner: Owner | None, *, is_running: bool = True) -> OwnerState:
    return owner_state(
        owner, HERE, is_running=is_running, ticks_of=LIVING.get, has=lambda pid: pid in (*LIVING, HIDDEN)
    )


def test_labels_name_the_owner_again() -> None:
    """A container's labels give its owner back."""
    assert Owner.from_labels({**HERE.labels(), RUN_LABEL: "x", "org.testcontainers": "true"}) == HERE


def test_this_process_lives() -> None:
    """This process lives, so it never sweeps its own containers."""
    here = Owner.here()
    assert here.pid == os.getpid()
    assert owner_state(here, here, is_running=True) is OwnerState.LIVES


@pytest.mark.parametrize(
    ("owner", "is_running", "expected"),
    [
        (replace(HERE, pid=7, started_ticks=70), True, OwnerState.LIVES),
        (replace(HERE, pid=7, started_ticks=70), False, OwnerState.LIVES),  # a killed broker of a living run
        (replace(HERE, pid=7, started_ticks=69), True, OwnerState.GONE),  # a later process got the number
        (replace(HERE, pid=8), True, OwnerState.GONE),
        (replace(HERE, pid=HIDDEN), True, OwnerState.UNKNOWN),  # another user's run, or a later process of another user
        (replace(HERE, pid=8, pid_space="pid:[2]"), True, OwnerState.UNKNOWN),  # a runner in a container
        (replace(HERE, boot="boot-1"), False, OwnerState.GONE),  # before this machine's restart
        (replace(HERE, boot="boot-1"), True, OwnerState.UNKNOWN),  # a clone of this machine on a shared engine
        (replace(HERE, boot="boot-1", machine="other"), False, OwnerState.UNKNOWN),
        (replace(HERE, boot="boot-1", machine=""), False, OwnerState.UNKNOWN),
        (None, False, OwnerState.UNKNOWN),
    ],
)
def test_only_what_is_certainly_gone_is_gone(owner: Owner | None, is_running: bool, expected: OwnerState) -> None:
    """An owner is gone only if certain; others may belong to a living run."""
    assert state(owner, is_running=is_running) is expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("pid", None), ("started-ticks", None), ("boot", None), ("machine", None), ("pid", "-1")],
)
def test_incomplete_labels_and_a_negative_process_id_have_no_owner(name: str, value: str | None) -> None:
    """Labels that rocketdiff never writes have no owner: they are foreign or of another version."""
    labels = {**HERE.labels(), f"org.rocketdiff.owner-{name}": value}
    assert Owner.from_labels({key: text for key, text in labels.items() if text is not None}) is None
