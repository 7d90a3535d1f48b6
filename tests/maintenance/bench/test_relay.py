"""The relay's benchmark; no test limits the relay's cost, which needs a quiet machine."""

import pytest

from maintenance.bench.relay import measured


def test_the_bench_tells_what_the_relay_adds() -> None:
    """The benchmark reports the difference of both medians."""
    told = measured(rounds=100)
    assert told.keys() >= {"direct_p50_us", "direct_p99_us", "relayed_p50_us", "relayed_p99_us", "bound_us"}
    assert told["added_p50_us"] == pytest.approx(told["relayed_p50_us"] - told["direct_p50_us"], abs=0.2)
