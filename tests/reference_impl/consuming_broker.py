"""A scriptable broker for consumers: queues with messages, held pulls, offsets, ids of a group."""

import json
import socket
import struct
import threading
import zlib
from collections import defaultdict

from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.frames import Command, respond_to
from rocketmq_reference.remoting.messages import MAGIC_V1
from rocketmq_reference.remoting.properties import encode_properties
from tests.reference_impl.fake_broker import Answer, FakeBroker, Reply, Silence

QueueOf = tuple[str, int]


class ConsumerBroker(FakeBroker):
    """
    Serves what is put.

    first: offset of a queue's first message. refusals: answers instead of the normal ones, by request code. suggests: broker id
    in the answers to pulls. sends_on: answers every pull as a slave that knows nothing of the queue (PULL_RETRY_IMMEDIATELY).
    locks: owners of locked queues. locked: what clients asked for.

    A pull at the end of a queue is held for a moment, then answered without messages.
    """

    def __init__(self, name: str) -> None:
        self.queues: dict[QueueOf, list[bytes]] = defaultdict(list)
        self.first: dict[QueueOf, int] = defaultdict(int)
        self.committed: dict[QueueOf, int] = {}
        self.ids: list[str] = []
        self.refusals: dict[int, Reply] = {}
        self.suggests = 0
        self.sends_on = False
        self.locks: dict[QueueOf, str] = {}
        self.locked: list[tuple[int, set[QueueOf]]] = []
        self._news = threading.Condition()
        super().__init__(name)

    def put(self, topic: str, queue_id: int, *bodies: str, reconsume_times: int = 0, **properties: str) -> None:
        with self._news:
            queue = self.queues[topic, queue_id]
            for body in bodies:
                offset = self.first[topic, queue_id] + len(queue)
                queue.append(stored(topic, queue_id, offset, body.encode(), reconsume_times, properties))
            self._news.notify_all()

    def serve(self, request: Command) -> Command | Reply:
        fields = request.ext_fields
        if (refusal := self.refusals.get(request.code)) is not None:
            return refusal
        if request.code == RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            return respond_to(request, 0, body=json.dumps({"consumerIdList": self.ids}).encode())
        if request.code in (RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ):
            return self._served_locks(request)
        answering = {
            RequestCode.PULL_MESSAGE: self._pulled,
            RequestCode.LITE_PULL_MESSAGE: self._pulled,
            RequestCode.QUERY_CONSUMER_OFFSET: self._queried,
            RequestCode.UPDATE_CONSUMER_OFFSET: self._updated,
            RequestCode.GET_MAX_OFFSET: self._ended,
            RequestCode.GET_MIN_OFFSET: self._begun,
        }.get(RequestCode(request.code))
        if answering is None:
            return super().serve(request)
        return answering(request, (fields["topic"], int(fields["queueId"])))

    def _served_locks(self, request: Command) -> Command:
        asked = json.loads(request.body)
        own, queues = asked["clientId"], {(each["topic"], each["queueId"]): each for each in asked["mqSet"]}
        self.locked.append((request.code, set(queues)))
        if request.code == RequestCode.UNLOCK_BATCH_MQ:
            self.locks = {of: who for of, who in self.locks.items() if of not in queues or who != own}
            return respond_to(request, 0)
        had = [each for of, each in queues.items() if self.locks.setdefault(of, own) == own]
        return respond_to(request, 0, body=json.dumps({"lockOKMQSet": had}).encode())

    def _queried(self, request: Command, of: QueueOf) -> Command | Reply:
        if of not in self.committed:
            return Answer(ResponseCode.QUERY_NOT_FOUND)
        return respond_to(request, 0, ext_fields={"offset": str(self.committed[of])})

    def _updated(self, request: Command, of: QueueOf) -> Reply:
        self.committed[of] = int(request.ext_fields["commitOffset"])
        return Silence()  # it is one-way

    def _ended(self, request: Command, of: QueueOf) -> Command:
        return respond_to(request, 0, ext_fields={"offset": str(self.first[of] + len(self.queues[of]))})

    def _begun(self, request: Command, of: QueueOf) -> Command:
        return respond_to(request, 0, ext_fields={"offset": str(self.first[of])})

    def _pulled(self, request: Command, of: QueueOf) -> Command:
        offset = int(request.ext_fields["queueOffset"])
        if int(request.ext_fields["sysFlag"]) & 1:
            self.committed[of] = int(request.ext_fields["commitOffset"])
        with self._news:
            first = self.first[of]
            if first <= offset == first + len(self.queues[of]):
                self._news.wait(0.05)
            end = first + len(self.queues[of])
            if self.sends_on:
                code, next_offset, body = ResponseCode.PULL_RETRY_IMMEDIATELY, offset, b""
            elif not first <= offset <= end:
                code, next_offset, body = ResponseCode.PULL_OFFSET_MOVED, first, b""
            elif offset == end:
                code, next_offset, body = ResponseCode.PULL_NOT_FOUND, offset, b""
            else:
                code, next_offset, body = ResponseCode.SUCCESS, end, b"".join(self.queues[of][offset - first :])
        header = {
            "nextBeginOffset": str(next_offset),
            "minOffset": str(first),
            "maxOffset": str(end),
            "suggestWhichBrokerId": str(self.suggests),
        }
        return respond_to(request, code, ext_fields=header, body=body)


def stored(
    topic: str, queue_id: int, offset: int, body: bytes, reconsume_times: int, properties: dict[str, str]
) -> bytes:
    """Return a message as a broker stores it (MessageDecoder.encode)."""
    host = socket.inet_aton("127.0.0.1") + struct.pack(">i", 10911)
    text = encode_properties(properties).encode()
    rest = b"".join(
        (
            struct.pack(">Iiiiqqiq", MAGIC_V1, zlib.crc32(body) & 0x7FFFFFFF, queue_id, 0, offset, 1000 + offset, 0, 1),
            host,
            struct.pack(">q", 2),
            host,
            struct.pack(">iq", reconsume_times, 0),
            struct.pack(">i", len(body)) + body,
            struct.pack(">b", len(topic)) + topic.encode(),
            struct.pack(">h", len(text)) + text,
        )
    )
    return struct.pack(">i", len(rest) + 4) + rest
