"""Interface for making the requests of a consumer and reading their answers."""

from collections.abc import Iterable
from typing import Protocol

from rocketmq_reference.client.codec import Answer_contra, Request_co
from rocketmq_reference.remoting.answers import PullAnswer
from rocketmq_reference.remoting.consuming import Pull
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.consumer.offsets import TopicQueue


class ConsumeCodec(Protocol[Request_co, Answer_contra]):
    """Every read_* raises MQBrokerException for an error answer."""

    def consumer_ids(self) -> Request_co: ...

    def read_ids(self, answer: Answer_contra) -> list[str]: ...

    def query_offset(self, of: TopicQueue) -> Request_co: ...

    def read_committed(self, answer: Answer_contra) -> int | None:
        """Return the committed offset; None if the broker knows none (QUERY_NOT_FOUND)."""
        ...

    def max_offset(self, of: TopicQueue) -> Request_co: ...

    def read_offset(self, answer: Answer_contra) -> int: ...

    def update_offset(self, of: TopicQueue, offset: int) -> Request_co: ...

    def pull(self, asked: Pull) -> Request_co: ...

    def read_pull(self, answer: Answer_contra) -> PullAnswer: ...

    def send_back(self, message: StoredMessage, broker: str, delay_level: int) -> Request_co: ...

    def expect_success(self, answer: Answer_contra) -> object: ...


class LockCodec(Protocol[Request_co, Answer_contra]):
    """Requests for the locks of queues of one broker; every read_* and expect_success raise MQBrokerException for an error answer."""

    def lock(self, queues: Iterable[TopicQueue]) -> Request_co: ...

    def unlock(self, queues: Iterable[TopicQueue]) -> Request_co: ...

    def read_locked(self, answer: Answer_contra) -> set[TopicQueue]: ...

    def expect_success(self, answer: Answer_contra) -> object: ...
