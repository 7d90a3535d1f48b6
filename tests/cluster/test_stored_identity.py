"""The send that a stored message comes from."""

import pytest

from rocketdiff.cluster.operations.stored import row_of, send_number
from rocketdiff.core.sends.message import ID_PROPERTY
from rocketmq_reference.remoting.messages import StoredMessage


@pytest.mark.parametrize(
    ("identity", "send"),
    [
        ("run/T/17", 17),
        ("2026/11/21/T/0", 0),
        ("run/OTHER/17", None),
        ("run/T/x", None),
        ("run/T/-1", None),
        ("T/17", None),
        ("", None),
        (None, None),
    ],
)
def test_an_id_of_this_topic_names_its_send(identity: str | None, send: int | None) -> None:
    """An id of this topic gives its send, even with slashes in the run."""
    assert send_number(identity, "T") == send


@pytest.mark.parametrize(
    ("body", "is_whole"),
    [
        (b"r/T/3...", True),
        (b"r/T/3..", False),
        (b"r/T/3....", False),
        (b"r/T/3..,", False),
        (b"r/T/4...", False),
        (b"", False),
    ],
)
def test_a_body_is_whole_to_its_last_byte(body: bytes, is_whole: bool) -> None:
    """A body must equal the planned eight bytes of send 3."""
    assert row_of("broker-a", "T", message("r/T/3", body), {3: 8}).body_ok is is_whole


def test_nothing_is_whole_that_was_not_planned() -> None:
    """A message without an id, or of an unplanned send, is not whole."""
    for identity in (None, "r/T/4"):
        assert not row_of("broker-a", "T", message(identity, b"r/T/4..."), {3: 8}).body_ok


def message(identity: str | None, body: bytes) -> StoredMessage:
    carried = {} if identity is None else {ID_PROPERTY: identity}
    return StoredMessage("T", 0, 0, 0, body, carried, 0, 0, 1, "h:1", 2, "h:2", 0, 0)
