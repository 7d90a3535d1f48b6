"""Message ids: form and uniqueness."""

import re
from datetime import UTC, datetime
from unittest.mock import patch

from rocketmq_reference.api.unique_key import UniqueKeys


def test_an_id_begins_with_the_address() -> None:
    """An id has 32 upper-case hex digits and begins with the address."""
    assert re.fullmatch(r"7F000001[0-9A-F]{24}", UniqueKeys().create())


def test_ids_of_one_and_two_generators_differ() -> None:
    """Ids of one generator and of two differ."""
    one, other = UniqueKeys(), UniqueKeys()
    keys = [keys.create() for keys in (one, other) for _ in range(5_000)]
    assert len(set(keys)) == 10_000


def test_a_new_month_starts_anew() -> None:
    """Milliseconds count from local midnight of the first of the month, also at the turn of the year."""
    keys = UniqueKeys()
    december = 1_798_761_600_000  # 2027-01-01T00:00:00Z
    moments = [(december - 86_400_000) * 1_000_000, (december + 5) * 1_000_000]
    with patch.multiple("time", time_ns=lambda: moments.pop(0), localtime=_utc, mktime=_utc_seconds):
        since = [int(keys.create()[20:28], 16) for _ in range(2)]
    assert since == [30 * 86_400_000, 5]


def _utc(seconds: float) -> tuple[int, ...]:
    moment = datetime.fromtimestamp(seconds, UTC)
    return (moment.year, moment.month)


def _utc_seconds(parts: tuple[int, ...]) -> float:
    year, month = parts[0] + (parts[1] - 1) // 12, (parts[1] - 1) % 12 + 1
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
