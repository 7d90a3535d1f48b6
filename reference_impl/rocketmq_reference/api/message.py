"""The result of a send."""

from typing import NamedTuple

from rocketmq_reference.remoting.answers import SendStatus


class SendResult(NamedTuple):  # made for every send; tuples are the fastest to create
    """
    Result for a message that a broker has accepted (SendResult).

    message_id is the client's id (for a batch: the ids of all messages, separated by commas), offset_message_id the broker's.
    """

    status: SendStatus
    message_id: str
    offset_message_id: str
    topic: str
    broker: str
    queue_id: int
    queue_offset: int
    transaction_id: str | None = None
