"""The broker setting that each fault changes, and the sends that prove it."""

from types import SimpleNamespace

import pytest

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.faults.record import UnprovenFault
from rocketdiff.cluster.operations import admin
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.answers import SendStatus
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException
from tests.cluster.fakes import FakeCluster


class Broker:
    """Records settings and answers sends in turn, the last answer repeatedly."""

    def __init__(self, *answers: SendStatus | ResponseCode) -> None:
        self.settings: list[dict[str, object]] = []
        self.answers = list(answers)

    def update(self, _channels: Channels, _address: str, settings: dict[str, object]) -> None:
        self.settings.append(settings)

    def send(self, _channels: Channels, _address: str, _queue: int, _body: bytes, _topic: str = "") -> SimpleNamespace:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ResponseCode):
            raise MQBrokerException(answer, "[REJECTREQUEST]system busy")
        return SimpleNamespace(status=answer)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    """Replaces a real broker."""
    there = Broker(SendStatus.SEND_OK)
    monkeypatch.setattr(admin, "update_settings", there.update)
    monkeypatch.setattr(admin, "send_probe", there.send)
    return there


def injected(kind: FaultKind) -> FaultRecord:
    return FAULTS[kind].inject(FakeCluster(), FaultSpec(1, kind, "b", 0.0, 1.0))


OK, BUSY = SendStatus.SEND_OK, ResponseCode.SYSTEM_BUSY


@pytest.mark.parametrize(
    ("kind", "answers", "setting", "values"),
    [
        (FaultKind.FLOW_CONTROL, [BUSY, OK], "transientStorePoolEnable", ["true", "false"]),
        (FaultKind.FLUSH_TIMEOUT, [OK, SendStatus.FLUSH_DISK_TIMEOUT, OK], "syncFlushTimeout", [-1, 5_000]),
    ],
)
def test_a_setting_is_changed_and_changed_back_with_proof(
    broker: Broker, kind: FaultKind, answers: list[SendStatus | ResponseCode], setting: str, values: list[object]
) -> None:
    """Each fault switches its setting, proven by a send's answer and a stored send; one early success prevents nothing."""
    broker.answers = answers
    healed = FAULTS[kind].heal(FakeCluster(), injected(kind))
    assert broker.settings == [{setting: value} for value in values]
    assert None not in (healed.proven_ns, healed.heal_proven_ns)


@pytest.mark.parametrize("kind", [FaultKind.FLOW_CONTROL, FaultKind.FLUSH_TIMEOUT])
def test_a_setting_without_effect_is_not_proven(broker: Broker, kind: FaultKind) -> None:
    """A setting without effect on the broker is not proven."""
    with pytest.raises(UnprovenFault, match="broker-b to") as raised:
        injected(kind)
    assert raised.value.record.proven_ns is None


def test_a_broker_that_stays_busy_is_not_proven_healed(broker: Broker) -> None:
    """A broker that stays busy is not proven healed."""
    broker.answers = [ResponseCode.SYSTEM_BUSY]
    record = injected(FaultKind.FLOW_CONTROL)
    with pytest.raises(UnprovenFault, match="to store messages after it was healed"):
        FAULTS[FaultKind.FLOW_CONTROL].heal(FakeCluster(), record)
