"""The scripted brokers of a group, and the requests of its member, reduced to what a script can distinguish."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocketdiff.simulation.virtual.codec import NAME_SERVER, TOPIC, TOPIC_NOT_EXIST, Result, broker_at, status_of
from rocketdiff.simulation.virtual.codec import Answered as Reply
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.servers import Servers
from rocketmq_reference.client.codec import Compressed, OnEnd
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.consuming.resending import INNER_GROUP
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.message import Message
from rocketmq_reference.client.send_request import RequestMaker
from rocketmq_reference.remoting.answers import PullAnswer
from rocketmq_reference.remoting.consuming import Pull
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException
from rocketmq_reference.remoting.messages import StoredMessage, SysFlag
from rocketmq_reference.remoting.properties import DELAY, ORIGIN_MESSAGE_ID
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.dialect import Dialect

GROUP_NAME = "simulation"

_SYSTEM_ERROR = 1
_QUERY_NOT_FOUND = 22


@dataclass(frozen=True, slots=True)
class Question:
    """A request: kind as in the report (route, heartbeat, ids, query, max, min, commit, pull, lite-pull, lock); rest: what follows in its text."""

    kind: str
    of: str = ""
    rest: str = ""
    offset: int | None = None
    pull: Pull | None = None
    queues: tuple[int, ...] = ()

    @property
    def sends(self) -> bool:
        """True if it sends a message."""
        return self.kind == "send"


@dataclass(frozen=True, slots=True)
class Answered:
    """A response with the one thing that its request asked for."""

    code: int = 0
    route: TopicRoute | None = None
    ids: tuple[str, ...] = ()
    offset: int = 0
    pulled: PullAnswer | None = None
    locked: frozenset[TopicQueue] = frozenset()


class Group:
    """
    What the brokers know of the group, and what the member has asked them.

    ids: None: they answer with an error. offsets: by queue, ``broker/id``.
    """

    def __init__(self) -> None:
        self.ids: tuple[str, ...] | None = ()
        self.offsets: dict[str, int] = {}
        self._asked: dict[int, list[str]] = {}

    def note(self, now_ms: int, request: str) -> None:
        self._asked.setdefault(now_ms, []).append(request)

    def report(self) -> str:
        """Return what was asked since the last report, by time; the order within a millisecond is that of the text."""
        asked, self._asked = self._asked, {}
        rows = [{"at_ms": at_ms, "asked": sorted(requests, key=_text_order)} for at_ms, requests in asked.items()]
        return json.dumps(rows, ensure_ascii=False)


class GroupTransport:
    """A remoting client without connections; every request but a pull is answered at once."""

    def __init__(self, kernel: Kernel, servers: Servers, group: Group) -> None:
        self._kernel = kernel
        self._servers = servers
        self._group = group

    def invoke(self, address: str, _timeout_ms: int, question: Question) -> Running[Answered]:
        yield from ()
        return self._answer(address, question)

    def invoke_one_way(self, address: str, _timeout_ms: int, question: Question) -> Body:
        yield from ()
        self._answer(address, question)

    def invoke_async(
        self, address: str, _timeout_ms: int, question: Question, _on_end: OnEnd, _thread: Thread, *, is_retry: bool
    ) -> Body:
        """Hold a pull for ever."""
        assert not is_retry
        yield from ()
        self._answer(address, question)

    def reach(self, address: str) -> Body:
        raise NotImplementedError(address)

    def is_open(self, _address: str) -> bool:
        return True

    def _answer(self, address: str, question: Question) -> Answered:
        group = self._group
        if address == NAME_SERVER:
            route = self._servers.name_server.route if question.of == TOPIC else None
            return Answered(TOPIC_NOT_EXIST if route is None else 0, route=route)
        of = question.of or (broker_at(address) if question.kind == "heartbeat" else "")
        group.note(self._kernel.now_ms, " ".join(filter(None, (question.kind, of, question.rest))))
        match question.kind:
            case "ids":
                return Answered(_SYSTEM_ERROR) if group.ids is None else Answered(ids=group.ids)
            case "query":
                known = group.offsets.get(of)
                return Answered(_QUERY_NOT_FOUND) if known is None else Answered(offset=known)
            case "commit":
                assert question.offset is not None
                group.offsets[of] = question.offset
        return Answered()


class GroupCodec:
    """ClientCodec and ConsumeCodec of scripts."""

    def route(self, topic: str) -> Question:
        return Question("route", topic)

    def read_route(self, _topic: str, answer: Answered) -> TopicRoute:
        if answer.route is None:
            raise MQClientException("no route", answer.code)
        return answer.route

    def heartbeat(self, _producer_groups: object, _consumers: object) -> Question:
        return Question("heartbeat")

    def unregister(self, _group: str) -> Question:
        return Question("unregister")

    unregister_consumer = unregister

    def probe(self, topic: str) -> Question:
        raise NotImplementedError(topic)

    def consumer_ids(self) -> Question:
        return Question("ids")

    def read_ids(self, answer: Answered) -> list[str]:
        return list(_succeeded(answer).ids)

    def query_offset(self, of: TopicQueue) -> Question:
        return Question("query", _name(of))

    def read_committed(self, answer: Answered) -> int | None:
        return None if answer.code == _QUERY_NOT_FOUND else _succeeded(answer).offset

    def max_offset(self, of: TopicQueue) -> Question:
        return Question("max", _name(of))

    def min_offset(self, of: TopicQueue) -> Question:
        return Question("min", _name(of))

    def read_offset(self, answer: Answered) -> int:
        return _succeeded(answer).offset

    def update_offset(self, of: TopicQueue, offset: int) -> Question:
        return Question("commit", _name(of), str(offset), offset)

    def pull(self, asked: Pull) -> Question:
        kind = "lite-pull" if asked.has_own_code else "pull"
        return Question(kind, f"{asked.broker}/{asked.queue_id}", " ".join(_pulled(asked)), pull=asked)

    def read_pull(self, answer: Answered) -> PullAnswer:
        _succeeded(answer)
        assert answer.pulled is not None
        return answer.pulled

    def send_back(self, message: StoredMessage, broker: str | None, delay_level: int) -> Question:
        return Question(
            "back", f"{broker or message.store_host}/{message.queue_id}", f"{message.queue_offset} level {delay_level}"
        )

    def lock(self, queues: Iterable[TopicQueue]) -> Question:
        return _locking("lock", queues)

    def unlock(self, queues: Iterable[TopicQueue]) -> Question:
        return _locking("unlock", queues)

    def read_locked(self, answer: Answered) -> set[TopicQueue]:
        return set(_succeeded(answer).locked)

    def expect_success(self, answer: Answered) -> object:
        return _succeeded(answer)


class ResendCodec:
    """SendCodec of the member's own producer."""

    def __init__(self, dialect: Dialect) -> None:
        self._requests = RequestMaker(dialect, INNER_GROUP)

    def takes_time(self, _message: Message) -> bool:
        return False

    def compressed(self, message: Message) -> Compressed:
        raise NotImplementedError(message)

    def send(
        self,
        message: Message,
        broker: str,
        queue_id: int,
        _compressed: Compressed | None,
        *,
        one_way: bool,  # noqa: ARG002 - none is
    ) -> Question:
        request = self._requests.request(message, broker, queue_id, 0)
        level = request.properties.get(DELAY)
        words = (
            f"times {request.reconsume_times} of {'null' if request.max_reconsume_times is None else request.max_reconsume_times}",
            None if level is None else f"level {level}",
            "with its id" if ORIGIN_MESSAGE_ID in request.properties else None,
            "prepared" if request.sys_flag & SysFlag.TRANSACTION_PREPARED else None,
        )
        return Question("send", f"{broker}/{queue_id}", " ".join(filter(None, words)))

    def result(self, _message: Message, broker: str, answer: Reply, _address: str) -> Result:
        status = status_of(answer.code)
        if status is None:
            raise MQBrokerException(answer.code, None)
        return Result(status, broker, None)

    def probe(self, topic: str) -> Question:
        raise NotImplementedError(topic)

    def is_reachable(self, answer: Reply) -> bool:
        raise NotImplementedError(answer)


class Unrecorded:
    """Attempts of the member's own producer, which nothing but its requests shows."""

    def begun(
        self, message: Message, number: int, broker: str, queue_id: int, address: str | None, *, vip: bool
    ) -> None:
        """Note nothing."""

    def requested(self, attempt: None, timeout_ms: int) -> None:
        """Note nothing."""

    def ended(self, attempt: None, outcome: object, answer: Reply | None) -> None:
        """Note nothing."""


def owned_text(memory: ConsumerMemory) -> str:
    """Return the queues of the topic that a member works on, in the order of their text."""
    owned = (f"{queue.broker}/{queue.queue_id}" for queue in memory.working_on(TOPIC))
    return json.dumps(sorted(owned, key=_text_order), ensure_ascii=False)


def _pulled(asked: Pull) -> Iterator[str]:
    yield str(asked.offset)
    if asked.commit is not None:
        yield f"commit {asked.commit}"


def _locking(kind: str, queues: Iterable[TopicQueue]) -> Question:
    ids = tuple(sorted(of.queue.queue_id for of in queues))
    return Question(kind, rest=" ".join(map(str, ids)), queues=ids)


def _succeeded(answer: Answered) -> Answered:
    if answer.code:
        raise MQBrokerException(answer.code, None)
    return answer


def _name(of: TopicQueue) -> str:
    return f"{of.queue.broker}/{of.queue.queue_id}"


def _text_order(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
