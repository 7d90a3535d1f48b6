"""The broker detector of a producer (LatencyFaultToleranceImpl, from 5.1.4)."""

from collections.abc import Callable
from typing import Any

from rocketmq_reference.client.background import Task
from rocketmq_reference.client.codec import SendCodec, Transport
from rocketmq_reference.client.effects import Body, Host, Running
from rocketmq_reference.client.memory import ProducerMemory
from rocketmq_reference.remoting.errors import RemotingException
from rocketmq_reference.rules.client.background import DETECT_TIMEOUT_MS, DETECTION_PERIOD_MS, FIRST_DETECTION_MS
from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.producer.detector import DetectorRound

DETECTOR = "detector"
"""The thread of the detector."""


class Detection:
    """Probes brokers that a producer avoids; vip_address: maps an address to the port two below."""

    def __init__(
        self,
        memory: ProducerMemory,
        host: Host,
        known: KnownRoutes,
        transport: Transport[Any, Any],
        codec: SendCodec[Any, Any, Any, Any],
        vip_address: Callable[[str], str],
    ) -> None:
        self._memory = memory
        self._host = host
        self._known = known
        self._transport = transport
        self._codec = codec
        self._vip_address = vip_address

    def tasks(self) -> tuple[Task, ...]:
        """Return the detector's task, none if the producer has it switched off."""
        if not self._memory.dialect.producer.detects(self._memory.settings):
            return ()
        return (Task(FIRST_DETECTION_MS, DETECTION_PERIOD_MS, lambda _own: self.detect(), DETECTOR),)

    def detect(self) -> Body:
        """Run one round of the broker detector (from 5.1.4)."""
        detection = DetectorRound(self._memory.faults)
        while (broker := detection.next(self._host.now_ms)) is not None:
            address = self._known.master(broker)
            if address is None:
                detection.no_address()
            elif (yield from self._probe(address)):
                detection.answered()

    def _probe(self, address: str) -> Running[bool]:
        """Probe a broker with the client's first known topic; without one send nothing and return False."""
        topic = self._known.any_topic()
        if topic is None:
            return False
        if self._memory.dialect.client.uses_vip_channel(self._memory.settings.vip_channel_enabled):
            address = self._vip_address(address)
        try:
            answer = yield from self._transport.invoke(address, DETECT_TIMEOUT_MS, self._codec.probe(topic))
        except RemotingException:
            return False
        return self._codec.is_reachable(answer)
