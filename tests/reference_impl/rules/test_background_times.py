"""Times of a client's background tasks."""

import pytest

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client import background
from rocketmq_reference.rules.client.remoting_rules import ScanTimes


def test_constants_have_the_values_of_java() -> None:
    """
    The constants have the values of the Java sources, in milliseconds.

    MQClientInstance: first route poll after 10, first heartbeat after 1 000, LOCK_TIMEOUT_MILLIS. NettyClientConfig: connect
    timeout, clientChannelMaxIdleTimeSeconds. ClientConfig: mqClientApiTimeout. LatencyFaultToleranceImpl: rounds of the
    detector, detectTimeout, detectInterval. NettyRemotingAbstract.scanResponseTable: a second of grace.
    """
    assert {name: value for name, value in vars(background).items() if name.isupper()} == {
        "FIRST_ROUTE_POLL_MS": 10,
        "FIRST_HEARTBEAT_MS": 1_000,
        "FIRST_DETECTION_MS": 3_000,
        "DETECTION_PERIOD_MS": 3_000,
        "DETECT_TIMEOUT_MS": 200,
        "DETECT_INTERVAL_MS": 2_000,
        "EXPIRY_GRACE_MS": 1_000,
        "API_TIMEOUT_MS": 3_000,
        "CONNECT_TIMEOUT_MS": 3_000,
        "IDLE_MS": 120_000,
        "LOCK_TIMEOUT_MS": 3_000,
    }


@pytest.mark.parametrize(
    ("releases", "times"),
    [
        (("4.0.0-incubating", "4.9.8"), None),
        (("5.0.0", "5.1.0"), ScanTimes(first_ms=0, period_ms=3_000)),
        (("5.1.1", "5.2.0"), ScanTimes(first_ms=100, period_ms=3_100)),
        (("5.3.0", "5.5.0"), None),
    ],
)
def test_when_a_client_makes_sure_of_its_name_servers(releases: tuple[str, str], times: ScanTimes | None) -> None:
    """
    From 5.0.0 to 5.2.0 scanAvailableNameSrv runs at once and every 3 s, the connect timeout (NettyRemotingClient.start).

    From 5.1.1 a wheel timer runs it a tick of 100 ms later. Before 5.0.0 it does not exist; from 5.3.0 MQClientInstance
    disables it (setScanAvailableNameSrv).
    """
    assert [dialect_of(release).client.remoting.name_server_scan.times for release in releases] == [times, times]
