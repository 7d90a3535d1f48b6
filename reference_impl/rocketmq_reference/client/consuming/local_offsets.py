"""Offsets that a member of a broadcasting group keeps in a file of its own (LocalFileOffsetStore)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.client.effects import Body, Host, Running
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.local_offsets import decode_local_offsets, encode_local_offsets
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.offsets import TopicQueue


class File(Protocol):
    """The file and its copy; reads return "" without one."""

    def read(self) -> str: ...

    def read_backup(self) -> str: ...

    def write(self, text: str) -> None: ...


class LocalOffsets(Committing):
    """
    No broker gets an offset, but a new queue's end may still be asked for.

    Up to 5.1.4, but for 4.9.8, nothing is forgotten, and only the periodic commit writes: the queues that the member then has,
    and no others. From then on a commit leaves what the file has of other queues, and one queue's is written when it is given up.
    """

    def __init__(self, host: Host, file: File, *others: Any) -> None:
        super().__init__(*others)
        self._host = host
        self._file = file

    def load(self) -> Body:
        """Remember what the file has; raises MQClientException if neither it nor its copy can be read."""
        for of, offset in (yield from self._read()).items():
            self._memory.offsets.update(of, offset, increase_only=False)

    def forget(self, of: TopicQueue) -> None:
        if self._memory.rules.local_offsets_are_merged:
            self._memory.offsets.forget(of)
        self._memory.note(OffsetEvent.FORGET, of)

    def commit_these(self, queues: Collection[TopicQueue]) -> Body:
        if queues:
            yield from self._write(queues)

    def commit(self, of: TopicQueue) -> Body:
        offset = self._memory.offsets.get(of)
        if offset is None:
            return
        if self._memory.rules.local_offsets_are_merged:
            yield from self._write([of])
        else:
            self._memory.note(OffsetEvent.COMMIT, of, offset)

    def committed(self, of: TopicQueue) -> Running[int | None]:
        try:
            return (yield from self._read()).get(of)
        except MQClientException:
            return None

    def _write(self, queues: Iterable[TopicQueue]) -> Body:
        known = {of: offset for of in queues if (offset := self._memory.offsets.get(of)) is not None}
        for of, offset in known.items():
            self._memory.note(OffsetEvent.COMMIT, of, offset)
        kept: Mapping[TopicQueue, int] = {}
        if self._memory.rules.local_offsets_are_merged:
            try:
                kept = yield from self._read()
            except MQClientException:
                return
        text = encode_local_offsets({(of.topic, *of.queue): offset for of, offset in {**kept, **known}.items()})
        yield from self._host.outside(lambda: self._file.write(text))

    def _read(self) -> Running[dict[TopicQueue, int]]:
        """Return what the file has, else its copy; raises MQClientException if the copy is needed and damaged."""
        text = yield from self._host.outside(self._file.read)
        if text:
            try:
                return _offsets(text)
            except ValueError:
                pass
        backup = yield from self._host.outside(self._file.read_backup)
        try:
            return _offsets(backup) if backup else {}
        except ValueError as error:
            raise MQClientException("readLocalOffset Exception, maybe fastjson version too low") from error


def _offsets(text: str) -> dict[TopicQueue, int]:
    found = decode_local_offsets(text)
    return {TopicQueue(topic, Queue(broker, queue_id)): value for (topic, broker, queue_id), value in found.items()}
