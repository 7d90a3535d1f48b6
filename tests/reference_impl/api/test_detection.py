"""The broker detector of the live producer."""

import threading

import pytest

from rocketmq_reference.api.producer import Producer
from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.codes import RequestCode
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.producers import producer_of


def detecting(cluster: FakeCluster) -> Producer:
    """Return a producer with brokers a and b recorded as unreachable."""
    producer = producer_of(cluster, "5.3.3", send_latency_fault_enable=True)
    producer.start().send(Message("T", b"x"))
    for broker in ("broker-a", "broker-b"):
        producer.faults.update(broker, 5, 0, reachable=False, now_ms=0)
    return producer


def test_a_broker_that_answers_is_reachable_again(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that answers the probe (offset of a known topic) becomes reachable; a silent one stays unreachable."""
    monkeypatch.setattr("rocketmq_reference.client.detection.DETECT_TIMEOUT_MS", 2_000)  # 200 on a busy machine
    cluster["b"].silent = True
    producer = detecting(cluster)
    producer._client.host.run(producer._parts.detection.detect())
    assert {name: item.reachable for name, item in producer.faults.items.items()} == {
        "broker-a": True,
        "broker-b": False,
    }
    (question,) = cluster["a"].requests_of(RequestCode.GET_MAX_OFFSET)
    assert (question.ext_fields["topic"], question.ext_fields["queueId"]) == ("T", "0")
    producer.shutdown()


@pytest.mark.parametrize(
    ("release", "enabled", "works"), [("5.1.4", True, False), ("5.2.0", False, False), ("5.2.0", True, True)]
)
def test_it_works_where_the_setting_reaches_it(cluster: FakeCluster, release: str, enabled: bool, works: bool) -> None:
    """The detector runs from 5.2.0 on if enabled, in its own thread."""
    with producer_of(cluster, release, start_detector_enable=enabled):
        assert any(thread.name == "detector-G" for thread in threading.enumerate()) is works
