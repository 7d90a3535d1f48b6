"""The longest duration of a send, manually calculated."""

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.subjects.sending.limits import longest_send_s

HASTY = ClientSettings(send_msg_timeout_ms=500)


@pytest.mark.parametrize(
    ("settings", "name_servers", "own_ms", "longest_s"),
    [
        (ClientSettings(), 1, None, 3 * 3 + 2 * 3),
        (ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=0), 2, None, 1 * 0.5 + 4 * 3),
        (HASTY, 1, None, 3 * 0.5 + 2 * 3),
        (HASTY, 1, 100, 3 * 0.5 + 2 * 3),
        (HASTY, 1, 4_000, 3 * 4 + 2 * 3),
    ],
)
def test_the_longest_send_has_all_attempts_and_lookups(
    settings: ClientSettings, name_servers: int, own_ms: int | None, longest_s: float
) -> None:
    """Every attempt may take the timeout, or the client's own if longer, and two lookups of each name server 3 s."""
    assert longest_send_s(settings, name_servers, own_ms) == longest_s
