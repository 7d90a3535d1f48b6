"""Which send a stored message comes from."""

import pytest

from harness.cluster.stored import send_number


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
    """The run may hold slashes; anything else is nobody's."""
    assert send_number(identity, "T") == send
