"""How a script writes what servers answer, in both directions: of a broker a latency, a fault, a status or a code; of a name server a route."""

from typing import Annotated, Any

from msgspec import Meta

from rocketdiff.simulation.script.fields import Place, convert, members, nearest, read
from rocketdiff.simulation.script.vocabulary import Answer, BrokerName, BrokerRoute, Code, Fault, Ms, Route
from rocketmq_reference.remoting.codes import ResponseCode

STATUSES = {
    "SEND_OK": ResponseCode.SUCCESS,
    "FLUSH_DISK_TIMEOUT": ResponseCode.FLUSH_DISK_TIMEOUT,
    "FLUSH_SLAVE_TIMEOUT": ResponseCode.FLUSH_SLAVE_TIMEOUT,
    "SLAVE_NOT_AVAILABLE": ResponseCode.SLAVE_NOT_AVAILABLE,
}
"""Send statuses are response codes on the wire."""

CODES = {code.name: code for code in ResponseCode if code not in STATUSES.values()}
"""Response codes that have a name here; any other is written as a number."""

_FAULTS = {str(fault): fault for fault in Fault}
_KNOWN = (*_FAULTS, *STATUSES, *CODES)
_STATUS_NAMES = {int(code): name for name, code in STATUSES.items()}
_CODE_NAMES = {int(code): name for name, code in CODES.items()}

AnswerData = int | str | dict[str, int | str]
"""An answer as JSON has it."""

MOST_ANSWERS = 10_000
"""Answers in one list."""


def read_answers(raw: object, place: Place) -> tuple[Answer, ...]:
    """One answer or a list of them."""
    if not isinstance(raw, list):
        return (read_answer(raw, place),)
    if not 0 < len(raw) <= MOST_ANSWERS:
        place.refuse(f"1 to {MOST_ANSWERS} answers", seen=len(raw))
    return tuple(read_answer(one, place / number) for number, one in enumerate(raw))


def read_answer(raw: object, place: Place) -> Answer:
    """One answer."""
    if isinstance(raw, str):
        return Answer(fault=_FAULTS[raw]) if raw in _FAULTS else Answer(code=_named(raw, place))
    if isinstance(raw, dict):
        return _described(raw, place)
    if isinstance(raw, bool) or not isinstance(raw, int):
        place.refuse("a latency in ms, a fault, a send status, a response code or an object of them", seen=raw)
    return Answer(latency_ms=convert(Ms, raw, place))


def _described(raw: dict[str, object], place: Place) -> Answer:
    given = members(raw, place, ("latency_ms", "code", "status"))
    if "code" in given and "status" in given:
        place.refuse("a code or a status", seen="both", in_words=True)
    if not given:
        place.refuse("at least latency_ms, code or status", seen="none", in_words=True)
    latency_ms = convert(Ms, given.get("latency_ms", 0), place / "latency_ms")
    if "status" in given:
        status = given["status"]
        if status not in STATUSES:
            (place / "status").refuse(
                f"one of {', '.join(STATUSES)}", seen=status, hint=nearest(str(status), tuple(STATUSES))
            )
        return Answer(latency_ms, STATUSES[status])
    code = given.get("code", 0)
    if isinstance(code, str):
        return Answer(latency_ms, _named(code, place / "code"))
    return Answer(latency_ms, convert(Code, code, place / "code"))


def _named(name: str, place: Place) -> int:
    """The code of a status, of a code's name or of a decimal number."""
    if name.isascii() and name.isdecimal() and len(name) <= len(str(2**31)):
        return int(convert(Code, int(name), place))
    code = STATUSES.get(name, CODES.get(name))
    if code is None:
        expected = "a latency in ms, a fault, a send status or a response code (a name or a decimal string)"
        place.refuse(expected, seen=name, hint=nearest_known(name))
    return int(code)


def nearest_known(name: str) -> str:
    """Faults are written small, statuses and codes large; a slip in that is the likeliest one."""
    by_folded = {known.lower(): known for known in _KNOWN}
    close = nearest(name, tuple(by_folded)).rstrip("?")
    return f"{by_folded[close]}?" if close else ""


def answers_data(answers: tuple[Answer, ...]) -> AnswerData | list[AnswerData]:
    """Answers as the script writes them."""
    return answer_data(answers[0]) if len(answers) == 1 else [answer_data(answer) for answer in answers]


def answer_data(answer: Answer) -> AnswerData:
    """One answer in its shortest form."""
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
"""Queues of a route over all its brokers: a dump prints the whole list."""

_READ_AND_WRITE = 6

_Queues = Annotated[int, Meta(ge=0, le=4_096)]


def read_route(raw: object, place: Place) -> Route:
    """A route; the empty one is refused, because a name server that has no brokers for a topic does not know it."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        place.refuse("an object of brokers, or null when the name server does not know the topic", seen=raw)
    if not 0 < len(raw) <= MOST_BROKERS:
        place.refuse(f"1 to {MOST_BROKERS} brokers", seen=len(raw), hint="null is the route of an unknown topic")
    route = tuple(_broker(name, value, place) for name, value in raw.items())
    queues = sum(broker.queues for broker in route)
    if queues > MOST_QUEUES:
        place.refuse(f"at most {MOST_QUEUES} queues in all", seen=queues)
    return route


def _broker(name: str, raw: Any, place: Place) -> BrokerRoute:
    convert(BrokerName, name, place)
    at = place / name
    if not isinstance(raw, dict):
        return BrokerRoute(name, convert(_Queues, raw, at))
    return read(BrokerRoute, {"name": name, **members(raw, at, ("queues", "perm", "master"))}, at)


def route_data(route: Route) -> dict[str, Any] | None:
    """A route as the script writes it; a broker of which nothing is special is the number of its queues."""
    return None if route is None else {broker.name: _broker_data(broker) for broker in route}


def _broker_data(broker: BrokerRoute) -> int | dict[str, int | bool]:
    if broker == BrokerRoute(broker.name, broker.queues):
        return broker.queues
    data: dict[str, int | bool] = {"queues": broker.queues}
    if broker.perm != _READ_AND_WRITE:
        data["perm"] = broker.perm
    if not broker.master:
        data["master"] = False
    return data
