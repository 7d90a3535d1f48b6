"""The bench of the relay; how much time a relay may cost is for whoever runs it on a quiet machine, not for a test."""

import pytest

from rocketdiff.bench.relay import measured


def test_the_bench_tells_what_the_relay_adds() -> None:
    """The difference of both medians, each of rounds that were made in turn."""
    told = measured(rounds=100)
    assert told.keys() >= {"direct_p50_us", "direct_p99_us", "relayed_p50_us", "relayed_p99_us", "bound_us"}
    assert told["added_p50_us"] == pytest.approx(told["relayed_p50_us"] - told["direct_p50_us"], abs=0.2)
