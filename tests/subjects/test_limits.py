"""The longest a send may take, worked out by hand."""

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.subjects.limits import longest_send_s


def test_every_attempt_may_take_the_whole_timeout() -> None:
    """3 attempts of 3 s, and two look-ups of 3 s at one name server."""
    assert longest_send_s(ClientSettings(), 1) == 9 + 6


def test_every_name_server_is_asked() -> None:
    """1 attempt of 0.5 s, and two look-ups of 3 s at each of two name servers."""
    settings = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=0)
    assert longest_send_s(settings, 2) == 0.5 + 12


def test_a_client_with_a_timeout_of_its_own_may_take_that_for_every_attempt() -> None:
    """3 attempts of 4 s, whatever the setting; a shorter one than the setting changes nothing."""
    settings = ClientSettings(send_msg_timeout_ms=500)
    assert longest_send_s(settings, 1, 4_000) == 12 + 6
    assert longest_send_s(settings, 1, 100) == longest_send_s(settings, 1) == 1.5 + 6
