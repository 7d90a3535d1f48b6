"""The broker detector at work: what DetectorRound asks for, carried out on the client's connections (from 5.2.0)."""

from collections.abc import Callable

from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.live.calls import now_ms
from rocketmq_reference.remoting import requests
from rocketmq_reference.remoting.answers import parse_offset
from rocketmq_reference.remoting.errors import RocketMQException
from rocketmq_reference.remoting.frames import Serialization
from rocketmq_reference.rules.client.background import DETECT_TIMEOUT_MS
from rocketmq_reference.rules.producer.detector import DetectorRound
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable

Find = Callable[[str], str | None]


class Detector:
    """
    Probes the brokers of one producer (LatencyFaultToleranceImpl, and DefaultMQProducerImpl's ServiceDetector).

    address_of: where a broker is asked, None if nobody knows. topic: one the producer has a publish list of, None if there
    is none; its first queue is asked about, and a broker without that topic is not reachable to a detector.
    """

    def __init__(
        self,
        faults: FaultTable,
        channels: Channels,
        address_of: Find,
        topic: Callable[[], str | None],
        serialization: Serialization,
    ) -> None:
        self._faults = faults
        self._channels = channels
        self._address_of = address_of
        self._topic = topic
        self._serialization = serialization

    def probe_all(self) -> None:
        """One round; for a thread that has nothing else to do, since every dead broker costs DETECT_TIMEOUT_MS or a connect."""
        going_round = DetectorRound(self._faults)
        while (broker := going_round.next(now_ms())) is not None:
            address = self._address_of(broker)
            if address is None:
                going_round.no_address()
            elif self._answers(address):
                going_round.answered()

    def _answers(self, address: str) -> bool:
        topic = self._topic()
        if topic is None:
            return False
        question = requests.get_max_offset(topic, 0, serialization=self._serialization)
        try:
            parse_offset(self._channels.invoke(address, question, DETECT_TIMEOUT_MS))
        except RocketMQException:
            return False
        return True
