"""Small scripted brokers: queues with messages, offsets and ids of the group, and pulls that they hold."""

from dataclasses import dataclass, replace

from rocketdiff.simulation.script.steps.subscribing import Store
from rocketdiff.simulation.virtual.codec import NAME_SERVER, TOPIC, TOPIC_NOT_EXIST, broker_at
from rocketdiff.simulation.virtual.consuming.group import GROUP_NAME, Answered, Group, Question
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.network import Respond
from rocketdiff.simulation.virtual.servers import Servers
from rocketmq_reference.remoting.answers import PullAnswer, PullStatus
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import RETRY_TOPIC, TAGS, TRANSACTION_PREPARED, UNIQ_KEY
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.client.route import MASTER_ID, TopicRoute
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX, TopicQueue

OWN_ID = "own@own"
"""The client's own id, which a script calls ``own``: from its address and its instance name."""

_SYSTEM_ERROR, _QUERY_NOT_FOUND = 1, 22
_WRITE = 2
_RETRY_TOPIC = RETRY_PREFIX + GROUP_NAME
_LOOK_MS = 5_000
"""A held pull ends when a look, every so often, finds it as old as its client allows."""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    broker: str
    question: Question
    respond: Respond


class ServedMessage(StoredMessage):
    """A message of a scripted server, whose address is its name."""

    __slots__ = ()

    @property
    def offset_message_id(self) -> str:
        return f"{self.store_host} {self.physical_offset}"


class GroupBrokers:
    """The brokers of a script with one group. fails_hook: the kind of request before which the application's hook throws next."""

    def __init__(self, kernel: Kernel, servers: Servers, group: Group, own_id: str = OWN_ID) -> None:
        self._own_id = own_id
        self._kernel = kernel
        self._servers = servers
        self._group = group
        self._stored: dict[str, list[StoredMessage]] = {}
        self._held: list[_Held] = []
        self._refused: dict[tuple[str, str], int] = {}
        self._knows_retry_topic = False
        self.fails_hook: str | None = None
        self._suggested: dict[str, int] = {}
        self._locked_by_others: set[Queue] = set()

    def refuse(self, broker: str, asked: str, code: int | None) -> None:
        """Answer a kind of request with this code from now on; None: as usual."""
        if code is None:
            self._refused.pop((broker, asked), None)
        else:
            self._refused[broker, asked] = code

    def know_retry_topic(self) -> None:
        """Let name servers know the group's retry topic from now on."""
        self._knows_retry_topic = True

    def suggest(self, broker: str, member: int) -> None:
        """Suggest this id of a broker in answers to pulls from now on."""
        self._suggested[broker] = member

    def set_lock_holder(self, queue: Queue, *, is_other: bool) -> None:
        """Let another member hold a queue's lock, or none."""
        if is_other:
            self._locked_by_others.add(queue)
        else:
            self._locked_by_others.discard(queue)

    def store(self, step: Store) -> None:
        """Store messages; pulls that wait for them are answered."""
        broker, queue_id = step.broker, step.queue
        name = f"{broker}/{queue_id}"
        messages = self._messages(name)
        messages += [_message(step, len(messages) + number) for number in range(step.count)]
        for each in [held for held in self._held if held.question.of == name]:
            self._when_awake(each)

    def serve(self, address: str, question: Question, respond: Respond) -> bool:
        if address == NAME_SERVER:
            route = self._route(question.of)
            respond(Answered(TOPIC_NOT_EXIST if route is None else 0, route=route))
            return True
        group, broker = self._group, broker_at(address)
        question = _asked_of(broker, question)
        of = question.of
        group.note(self._kernel.now_ms, " ".join(filter(None, (question.kind, of or broker, question.rest))))
        if question.sends:
            return False
        code = self._refused.get((broker, question.kind.removeprefix("lite-")))
        if code is not None:
            respond(Answered(code))
            return True
        match question.kind:
            case "ids":
                ids = None if group.ids is None else tuple(self._own_id if one == "own" else one for one in group.ids)
                respond(Answered(_SYSTEM_ERROR) if ids is None else Answered(ids=ids))
            case "query":
                known = group.offsets.get(of)
                respond(Answered(_QUERY_NOT_FOUND) if known is None else Answered(offset=known))
            case "max" | "min":
                respond(Answered(offset=len(self._messages(of)) if question.kind == "max" else 0))
            case "commit":
                assert question.offset is not None
                group.offsets[of] = question.offset
            case "lock":
                asked = (Queue(broker, queue_id) for queue_id in question.queues)
                free = (TopicQueue(TOPIC, queue) for queue in asked if queue not in self._locked_by_others)
                respond(Answered(locked=frozenset(free)))
            case "pull" | "lite-pull":
                self._pull(broker, question, respond)
            case _:
                respond(Answered())
        return True

    def _route(self, topic: str) -> TopicRoute | None:
        route = self._servers.name_server.route
        if route is None or topic == TOPIC:
            return route
        if not self._knows_retry_topic or topic != _RETRY_TOPIC:
            return None
        queues = tuple(replace(each, read_queues=1, write_queues=1, permission=_WRITE) for each in route.queues)
        return replace(route, queues=queues)

    def _pull(self, broker: str, question: Question, respond: Respond) -> None:
        asked = question.pull
        assert asked is not None
        if asked.commit is not None:
            self._group.offsets[question.of] = asked.commit
        if asked.offset != len(self._messages(question.of)):
            self._answer(broker, question, respond)
            return
        held = _Held(broker, question, respond)
        self._held.append(held)
        due_ms = -(-(self._kernel.now_ms + asked.suspend_ms) // _LOOK_MS) * _LOOK_MS
        self._kernel.at(due_ms, lambda: self._when_awake(held))

    def _when_awake(self, held: _Held) -> None:
        self._servers.broker(held.broker).when_awake(lambda: self._release(held))

    def _release(self, held: _Held) -> None:
        if held in self._held:
            self._held.remove(held)
            self._answer(held.broker, held.question, held.respond)

    def _answer(self, broker: str, question: Question, respond: Respond) -> None:
        messages, asked, suggested = self._messages(question.of), question.pull, self._suggested.get(broker, MASTER_ID)
        assert asked is not None
        begin, end = asked.offset, len(messages)
        if not 0 <= begin <= end:
            next_offset = max(0, min(begin, end))
            respond(Answered(pulled=PullAnswer(PullStatus.OFFSET_ILLEGAL, (), next_offset, 0, end, suggested)))
            return
        found = tuple(messages[begin : begin + asked.max_messages])
        status = PullStatus.FOUND if found else PullStatus.NO_NEW_MESSAGE
        respond(Answered(pulled=PullAnswer(status, found, begin + len(found), 0, end, suggested)))

    def _messages(self, queue: str) -> list[StoredMessage]:
        return self._stored.setdefault(queue, [])


def place_of(message: StoredMessage) -> str:
    """Name a message by the server that stored it."""
    return f"{message.store_host}/{message.queue_id} {message.queue_offset}"


def _asked_of(server: str, question: Question) -> Question:
    """Return a question about a queue as that of the server that is asked: a slave has queues of its own."""
    return replace(question, of=f"{server}/{question.of.rpartition('/')[2]}") if question.of else question


def _message(step: Store, offset: int) -> ServedMessage:
    properties = {TAGS: step.tag} if step.tag else {}
    if step.transactional:
        properties |= {TRANSACTION_PREPARED: "true", UNIQ_KEY: f"{offset}"}
    if step.retried:
        properties[RETRY_TOPIC] = TOPIC
    return ServedMessage(
        topic=_RETRY_TOPIC if step.retried else TOPIC,
        queue_id=step.queue,
        queue_offset=offset,
        physical_offset=offset,
        body=bytes(step.bytes),
        properties=properties,
        flag=0,
        sys_flag=0,
        born_timestamp_ms=0,
        born_host="",
        store_timestamp_ms=0,
        store_host=step.broker,
        reconsume_times=0,
        body_crc=0,
    )
