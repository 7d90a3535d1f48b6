"""The longest a send may take, worked out by hand."""

from rocketdiff.core.settings import ClientSettings
from rocketdiff.subjects.deadlines import longest_send_s


def test_every_attempt_may_take_the_whole_timeout() -> None:
    """3 attempts of 3 s, and two look-ups of 3 s at one name server."""
    assert longest_send_s(ClientSettings(), 1) == 9 + 6


def test_every_name_server_is_asked() -> None:
    """1 attempt of 0.5 s, and two look-ups of 3 s at each of two name servers."""
    settings = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=0)
    assert longest_send_s(settings, 2) == 0.5 + 12
