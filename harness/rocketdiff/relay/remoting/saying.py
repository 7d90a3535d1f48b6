"""The fields of a remoting frame that the relay records: opaque, code, flags; for send requests also queue id and message id."""

from dataclasses import dataclass

from rocketmq_reference.remoting.batch import decode_batch
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.frames import Command, decode
from rocketmq_reference.remoting.properties import UNIQ_KEY, decode_properties
from rocketmq_reference.remoting.routes import PERM_WRITE, decode_route
from rocketmq_reference.remoting.sending import parse_send_fields

ID_PROPERTY = "rocketdiff.id"
"""User property with a message's id ``RUN/TOPIC/SEND``, which every subject sets."""

SEND_CODES = frozenset({RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE})


@dataclass(frozen=True, slots=True)
class Saying:
    """Fields as in ``wire.Passed``; ``note`` is set for a frame that cannot be decoded."""

    opaque: int = -1
    code: int = -1
    response: bool = False
    oneway: bool = False
    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    identity: str | None = None
    unique_key: str | None = None
    queues: tuple[tuple[str, int], ...] | None = None
    note: str | None = None


def saying_of(frame: bytes) -> Saying:
    """Decode a frame with its length word; a frame that cannot be decoded gives a note, never an error."""
    try:
        command = decode(frame[4:])
        if command.is_response:
            return _answer(command)
        return _send(command) if command.code in SEND_CODES else _request(command)
    except (RemotingCommandException, ValueError, UnicodeDecodeError) as error:
        return Saying(note=f"unreadable: {error}"[:200])


def _request(command: Command) -> Saying:
    return Saying(command.opaque, command.code, oneway=command.is_oneway, topic=command.ext_fields.get("topic"))


def _answer(command: Command) -> Saying:
    fields = command.ext_fields
    return Saying(
        command.opaque,
        command.code,
        response=True,
        queue_id=_number(fields.get("queueId")),
        queue_offset=_number(fields.get("queueOffset")),
        queues=_writable(command.body)
        if b'"brokerAddrs"' in command.body and b'"queueDatas"' in command.body
        else None,
    )


def _writable(body: bytes) -> tuple[tuple[str, int], ...]:
    """Brokers that have a master and write permission, by name, with their number of write queues."""
    route = decode_route(body)
    masters = route.master_addresses()
    writable = (each for each in route.queues if each.perm & PERM_WRITE and each.broker in masters)
    return tuple(sorted((each.broker, each.write_queues) for each in writable))


def _send(command: Command) -> Saying:
    fields = parse_send_fields(command)
    properties = decode_properties(fields.get("properties", ""))
    if command.code == RequestCode.SEND_BATCH_MESSAGE and ID_PROPERTY not in properties:
        entries = decode_batch(command.body)
        properties = dict(entries[0].properties) if entries else {}
    return Saying(
        command.opaque,
        command.code,
        oneway=command.is_oneway,
        topic=fields.get("topic"),
        queue_id=_number(fields.get("queueId")),
        identity=properties.get(ID_PROPERTY),
        unique_key=properties.get(UNIQ_KEY),
    )


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
