"""The relay's benchmark; no test limits the relay's cost, which needs a quiet machine."""

import pytest

from maintenance.bench.relay import measured


def test_the_bench_reports_the_difference_of_medians() -> None:
    """The benchmark reports the difference of both medians."""
    reported = measured(rounds=100)
    assert reported.keys() >= {"direct_p50_us", "direct_p99_us", "relayed_p50_us", "relayed_p99_us", "bound_us"}
    assert reported["added_p50_us"] == pytest.approx(reported["relayed_p50_us"] - reported["direct_p50_us"], abs=0.2)
