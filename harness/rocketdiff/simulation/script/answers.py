"""Server answers and routes, and their forms in a script: a latency, a fault, a status or a code; queues by broker."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from rocketdiff.documents.part import Part, WrittenAs
from rocketdiff.documents.refusal import rule_broken
from rocketdiff.simulation.script.vocabulary import BrokerFault, BrokerName, Code, Ms
from rocketmq_reference.remoting.codes import ResponseCode

STATUSES = {
    "SEND_OK": ResponseCode.SUCCESS,
    "FLUSH_DISK_TIMEOUT": ResponseCode.FLUSH_DISK_TIMEOUT,
    "FLUSH_SLAVE_TIMEOUT": ResponseCode.FLUSH_SLAVE_TIMEOUT,
    "SLAVE_NOT_AVAILABLE": ResponseCode.SLAVE_NOT_AVAILABLE,
}
"""Send statuses are response codes on the wire."""

CODES = {code.name: code for code in ResponseCode if code not in STATUSES.values()}
"""Named response codes; a script writes any other code as a number."""

MOST_ANSWERS = 10_000
"""Limit of a list of answers."""

_NAMES = STATUSES | CODES
_STATUS_NAMES = {int(code): name for name, code in STATUSES.items()}
_CODE_NAMES = {int(code): name for name, code in CODES.items()}
_LARGEST_CODE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """One answer of a server: a response code (0: success) after latency_ms, or a fault."""

    latency_ms: int = 0
    code: int = 0
    fault: BrokerFault | None = None


if TYPE_CHECKING:
    StatusName = str
    CodeName = str
    BrokerReply = str
    NameServerReply = str
else:  # literal types of the tables above
    StatusName = Literal[tuple(STATUSES)]
    CodeName = Literal[tuple(_NAMES)]
    BrokerReply = Literal[(*map(str, BrokerFault), *_NAMES)]
    # Only timeout and refused: the other faults act on connections in use, as only brokers do.
    NameServerReply = Literal[(str(BrokerFault.TIMEOUT), str(BrokerFault.REFUSED), *_NAMES)]


def _is_code(number: str) -> str:
    if int(number) > _LARGEST_CODE:
        raise rule_broken(f"a response code of at most {_LARGEST_CODE}")
    return number


Number = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,10}$", description="A response code without a name here."),
    AfterValidator(_is_code),
]


class WrittenAnswer(Part):
    """An answer as an object: a latency, and a code or a status."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "not": {"required": ["code", "status"]}})

    latency_ms: Ms = 0
    code: Code | CodeName | Number = 0
    status: StatusName = "SEND_OK"

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if {"code", "status"} <= self.model_fields_set:
            raise rule_broken("a code or a status", seen="both")
        if not self.model_fields_set:
            raise rule_broken("at least latency_ms, code or status", seen="none")
        return self


AnswerForm = int | str | WrittenAnswer
"""An answer in the file: a latency, a name or number as text, or an object."""


def _answer(form: AnswerForm) -> ServerAnswer:
    if isinstance(form, int):
        return ServerAnswer(form)
    if isinstance(form, str):
        return ServerAnswer(fault=BrokerFault(form)) if form in list(BrokerFault) else ServerAnswer(code=_code(form))
    return ServerAnswer(form.latency_ms, _code(form.status if "status" in form.model_fields_set else form.code))


def _code(form: int | str) -> int:
    return int(_NAMES.get(str(form), form))


def _answers(form: AnswerForm | list[AnswerForm]) -> tuple[ServerAnswer, ...]:
    return tuple(map(_answer, form)) if isinstance(form, list) else (_answer(form),)


_BrokerForm: TypeAlias = Ms | BrokerReply | Number | WrittenAnswer
_Forms = Annotated[list[_BrokerForm], Field(min_length=1, max_length=MOST_ANSWERS)]
BrokerAnswersOf = Annotated[tuple[ServerAnswer, ...], WrittenAs(_BrokerForm | _Forms, _answers)]
"""One answer or a list of them."""

NameServerAnswer = Annotated[ServerAnswer, WrittenAs(Ms | NameServerReply | Number | WrittenAnswer, _answer)]


Data = int | str | dict[str, int | str]
"""An answer in JSON."""


def answers_data(answers: tuple[ServerAnswer, ...]) -> Data | list[Data]:
    """Return answers in the form of the script."""
    return answer_data(answers[0]) if len(answers) == 1 else [answer_data(answer) for answer in answers]


def answer_data(answer: ServerAnswer) -> Data:
    """Return one answer in its shortest form."""
    if answer.fault is not None:
        return str(answer.fault)
    if answer.code == ResponseCode.SUCCESS:
        return answer.latency_ms
    if answer.code in _STATUS_NAMES:
        name = _STATUS_NAMES[answer.code]
        return {"latency_ms": answer.latency_ms, "status": name} if answer.latency_ms else name
    code = _CODE_NAMES.get(answer.code, str(answer.code))
    if not answer.latency_ms:
        return code
    return {"latency_ms": answer.latency_ms, "code": code if answer.code in _CODE_NAMES else answer.code}


MOST_BROKERS = 1_000
MOST_QUEUES = 16_384
"""Limit of queues in a route, over all brokers, because a dump prints every queue."""

_READ_AND_WRITE = 6

Queues = Annotated[int, Field(ge=0, le=4_096)]


@dataclass(frozen=True, slots=True)
class BrokerRoute:
    """
    A broker in a route; perm as in QueueData (4 read, 2 write); master: a live master exists, else its server is slave 1.

    at: the server at its address, by name; None: the one with the broker's own name. slaves: the servers of its slaves, by id; then
    without a live master there is nothing at its address.
    """

    name: str
    queues: int
    perm: int = _READ_AND_WRITE
    master: bool = True
    at: str | None = None
    slaves: tuple[tuple[int, str], ...] = ()

    @property
    def server(self) -> str:
        """Name of the server that its address leads to."""
        return self.at or self.name

    @property
    def members(self) -> dict[int, str]:
        """Servers by broker id, 0 for the master."""
        own = {0: self.server} if self.master else {} if self.slaves else {1: self.server}
        return own | dict(self.slaves)


SlaveId = Annotated[int, Field(ge=1, le=100)]


def _slaves(form: dict[str, int]) -> tuple[tuple[int, str], ...]:
    if len(set(form.values())) < len(form):
        raise rule_broken("another id for each slave", seen=", ".join(map(str, form.values())))
    return tuple(sorted((number, server) for server, number in form.items()))


class WrittenBroker(Part):
    """A broker with other permissions than read and write, without a master, with slaves, or at another server's address."""

    queues: Queues
    perm: Annotated[int, Field(ge=0, le=7)] = _READ_AND_WRITE
    master: bool = True
    at: BrokerName | None = None
    slaves: Annotated[
        tuple[tuple[int, str], ...],
        WrittenAs(dict[BrokerName, SlaveId], _slaves),
        Field(description="Broker ids by server."),
    ] = ()


def _route(form: dict[str, int | WrittenBroker] | None) -> tuple[BrokerRoute, ...] | None:
    if form is None:
        return None
    if not 0 < len(form) <= MOST_BROKERS:
        hint = "null is the route of an unknown topic"
        raise rule_broken(f"1 to {MOST_BROKERS} brokers", seen=str(len(form)), hint=hint)
    route = tuple(
        BrokerRoute(name, broker) if isinstance(broker, int) else BrokerRoute(name, **dict(broker))
        for name, broker in form.items()
    )
    queues = sum(broker.queues for broker in route)
    if queues > MOST_QUEUES:
        raise rule_broken(f"at most {MOST_QUEUES} queues in all", seen=str(queues))
    return route


_Brokers = Annotated[
    dict[BrokerName, Queues | WrittenBroker],
    Field(json_schema_extra={"minProperties": 1, "maxProperties": MOST_BROKERS, "additionalProperties": False}),
]
Route = Annotated[tuple[BrokerRoute, ...] | None, WrittenAs(_Brokers | None, _route)]
"""Brokers in the order of the name server's answer; None: the name server does not know the topic."""


def route_data(route: Route) -> dict[str, Any] | None:
    """Return a route in the form of the script; a default broker is its number of queues."""
    return None if route is None else {broker.name: _broker_data(broker) for broker in route}


def _broker_data(broker: BrokerRoute) -> int | dict[str, Any]:
    if broker == BrokerRoute(broker.name, broker.queues):
        return broker.queues
    data: dict[str, Any] = {"queues": broker.queues}
    if broker.perm != _READ_AND_WRITE:
        data["perm"] = broker.perm
    if not broker.master:
        data["master"] = False
    if broker.at is not None:
        data["at"] = broker.at
    if broker.slaves:
        data["slaves"] = {server: number for number, server in broker.slaves}
    return data
