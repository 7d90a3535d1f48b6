"""
The producer inside a consumer (its group is CLIENT_INNER_PRODUCER), which sends failed messages to the retry topic.

Read in DefaultMQPushConsumerImpl.sendMessageBack and ConsumeMessageOrderlyService.sendMessageBack, 4.0.0-incubating to 5.5.0.
"""

from typing import Any

from rocketmq_reference.client.consuming.concurrent import properties_of_resend
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.message import Message
from rocketmq_reference.client.message_checks import check_message
from rocketmq_reference.client.sending import Sender
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import RECONSUME_TIME, TRANSACTION_PREPARED, WAIT
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX

INNER_GROUP = "CLIENT_INNER_PRODUCER"
_MAX_MESSAGE_BYTES = 4 * 1024 * 1024


class Resending:
    """Sends in a thread of its own tape."""

    def __init__(self, memory: ConsumerMemory, sender: Sender[Message, Any, Any, Any]) -> None:
        self._memory = memory
        self._sender = sender
        self._thread = Thread("resend")

    def resend(self, message: StoredMessage) -> Running[None]:
        """
        Send a failed message to the retry topic; raises like a send.

        Up to 5.3.3, and in order, both messages share their properties, so one that is then consumed again locally shows those of
        the send.
        """
        rules, in_order = self._memory.rules, self._memory.is_orderly
        keeps = rules.resend_keeps_origin_id if in_order else rules.keeps_origin_id
        properties = dict(message.properties) if keeps and not in_order else message.properties
        properties |= properties_of_resend(
            message.properties,
            topic=message.topic,
            times=message.reconsume_times,
            most_times=self._memory.settings.most_reconsume_times,
            first_id=(message.unique_key or message.offset_message_id) if keeps else None,
        )
        if in_order and not rules.resend_counts_itself:
            properties[RECONSUME_TIME] = str(message.reconsume_times)
        if rules.resend_ends_transaction:
            properties.pop(TRANSACTION_PREPARED, None)
        has_wait = WAIT in properties
        again = Message(RETRY_PREFIX + self._memory.group, message.body, properties=properties, flag=message.flag)
        if not has_wait:  # brokers do not store it, and Java sets it only in the properties that it then replaces
            del again.properties[WAIT]
        check_message(again, self._sender.memory.dialect, _MAX_MESSAGE_BYTES)
        yield from self._sender.send(again, self._thread)
