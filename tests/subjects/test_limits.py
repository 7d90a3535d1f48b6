"""The longest duration of a send, manually calculated."""

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.subjects.sending.limits import longest_send_s


def test_every_attempt_may_take_the_whole_timeout() -> None:
    """The longest send has 3 attempts of 3 s and two lookups of 3 s."""
    assert longest_send_s(ClientSettings(), 1) == 9 + 6


def test_every_name_server_is_asked() -> None:
    """With two name servers the longest send has 1 attempt of 0.5 s and four lookups of 3 s."""
    settings = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=0)
    assert longest_send_s(settings, 2) == 0.5 + 12


def test_a_client_with_a_timeout_of_its_own_may_take_that_for_every_attempt() -> None:
    """A client's own timeout of 4 s counts for each of 3 attempts, if longer than the setting."""
    settings = ClientSettings(send_msg_timeout_ms=500)
    assert longest_send_s(settings, 1, 4_000) == 12 + 6
    assert longest_send_s(settings, 1, 100) == longest_send_s(settings, 1) == 1.5 + 6
