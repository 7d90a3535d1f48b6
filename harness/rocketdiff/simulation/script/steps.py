"""The steps of a script, in both directions: ``do`` says what is done, and what it takes stands beside it."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any

from msgspec import Meta

from rocketdiff.simulation.script.answers import (
    answer_data,
    answers_data,
    read_answer,
    read_answers,
    read_route,
    route_data,
)
from rocketdiff.simulation.script.fields import Place, convert, members, nearest, read
from rocketdiff.simulation.script.model import (
    Action,
    Advance,
    BrokerAnswers,
    Close,
    Dump,
    Entry,
    Heartbeat,
    Kill,
    NameServerAnswers,
    Pause,
    PollRoutes,
    Restart,
    Resume,
    RouteChange,
    Select,
    Send,
    SetIndex,
    SetWorstIndex,
    Step,
    Timeline,
    Update,
)
from rocketdiff.simulation.script.vocabulary import MOST_STEPS, BrokerName, DumpPart, Fault, Mode, Ms

Reader = Callable[[Any, Place], Step]
Data = dict[str, Any]

NAME_SERVER_FAULTS = (Fault.TIMEOUT, Fault.REFUSED)
"""What a name server can do instead of answering; with brokers it is also done to connections that are in use."""

_DumpParts = Annotated[tuple[DumpPart, ...], Meta(min_length=1)]


def _plain(kind: type[Step]) -> Reader:
    """A step whose fields are written as they are named."""
    return lambda raw, place: read(kind, raw, place)


def _read_broker(raw: Any, place: Place) -> Step:
    data = _all_of(raw, place, "name", "answers")
    return BrokerAnswers(
        convert(BrokerName, data["name"], place / "name"), read_answers(data["answers"], place / "answers")
    )


def _read_name_server(raw: Any, place: Place) -> Step:
    answer = read_answer(_all_of(raw, place, "answer")["answer"], place / "answer")
    if answer.fault not in (None, *NAME_SERVER_FAULTS):
        (place / "answer").refuse("a latency, timeout, refused or a code from a name server", seen=raw["answer"])
    return NameServerAnswers(answer)


def _read_route(raw: Any, place: Place) -> Step:
    return RouteChange(read_route(_all_of(raw, place, "route")["route"], place / "route"))


def _read_send(raw: Any, place: Place) -> Step:
    if isinstance(raw, dict) and isinstance(raw.get("queue"), dict):
        members(raw["queue"], place / "queue", ("broker", "queue_id"))
    send = read(Send, raw, place)
    if send.queue is not None and send.selector is not None:
        place.refuse("queue or selector", seen="both", in_words=True, hint="leave one of them out")
    if send.mode is Mode.ONE_WAY and send.timeout_ms is not None:
        place.refuse("no timeout_ms with mode oneway", seen=send.timeout_ms, hint="the client has no such call")
    return send


def _read_dump(raw: Any, place: Place) -> Step:
    parts = convert(_DumpParts, _all_of(raw, place, "parts")["parts"], place / "parts")
    if len(set(parts)) < len(parts):
        (place / "parts").refuse("each part once", seen=[str(part) for part in parts])
    return Dump(tuple(part for part in DumpPart if part in parts))


def _read_timeline(raw: Any, place: Place) -> Step:
    entries, at = _all_of(raw, place, "entries")["entries"], place / "entries"
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_STEPS:
        at.refuse(f"a list of 1 to {MOST_STEPS} entries", seen=entries)
    return Timeline(tuple(_read_entry(entry, at / number) for number, entry in enumerate(entries)))


def _read_entry(raw: Any, place: Place) -> Entry:
    data = _all_of(raw, place, "at_ms", "action")
    action = _read(_ACTIONS, data["action"], place / "action")
    assert not isinstance(action, Advance | SetIndex | SetWorstIndex | Dump | Timeline), "none of them is an action"
    return Entry(convert(Ms, data["at_ms"], place / "at_ms"), action)


_ACTIONS: Mapping[str, Reader] = {
    "update": _plain(Update),
    "select": _plain(Select),
    "broker": _read_broker,
    "name_server": _read_name_server,
    "route": _read_route,
    "poll_routes": _plain(PollRoutes),
    "pause": _plain(Pause),
    "resume": _plain(Resume),
    "kill": _plain(Kill),
    "restart": _plain(Restart),
    "close": _plain(Close),
    "send": _read_send,
    "heartbeat": _plain(Heartbeat),
}
"""What can stand in a step or in a timeline."""

STEPS: Mapping[str, Reader] = {
    **_ACTIONS,
    "advance": _plain(Advance),
    "index": _plain(SetIndex),
    "worst_index": _plain(SetWorstIndex),
    "dump": _read_dump,
    "timeline": _read_timeline,
}
"""Every kind of step by what it does."""


def read_step(raw: object, place: Place) -> Step:
    """A step from an object whose ``do`` says which."""
    return _read(STEPS, raw, place)


def _read(readers: Mapping[str, Reader], raw: object, place: Place) -> Step:
    if not isinstance(raw, dict):
        place.refuse("an object", seen=raw)
    kind = raw.get("do")
    if not isinstance(kind, str) or kind not in readers:
        seen, hint = ("nothing", "add do") if "do" not in raw else (kind, nearest(str(kind), readers))
        (place / "do").refuse(f"one of {', '.join(readers)}", seen=seen, hint=hint, in_words="do" not in raw)
    return readers[kind]({name: value for name, value in raw.items() if name != "do"}, place)


def step_data(step: Step) -> Data:
    """A step as the script writes it: what has its default is left out."""
    return {"do": _KINDS[type(step)], **_fields(step)}


def _fields(step: Step) -> Data:
    match step:
        case BrokerAnswers(name, answers):
            return {"name": name, "answers": answers_data(answers)}
        case NameServerAnswers(answer):
            return {"answer": answer_data(answer)}
        case RouteChange(route):
            return {"route": route_data(route)}
        case Dump(parts):
            return {"parts": [str(part) for part in parts]}
        case Timeline(entries):
            return {"entries": [{"at_ms": entry.at_ms, "action": step_data(entry.action)} for entry in entries]}
        case _:
            return _field_data(step)


_KINDS: Mapping[type[Step], str] = {
    Update: "update",
    Select: "select",
    Advance: "advance",
    BrokerAnswers: "broker",
    NameServerAnswers: "name_server",
    RouteChange: "route",
    PollRoutes: "poll_routes",
    Pause: "pause",
    Resume: "resume",
    Kill: "kill",
    Restart: "restart",
    Close: "close",
    Send: "send",
    Heartbeat: "heartbeat",
    SetIndex: "index",
    SetWorstIndex: "worst_index",
    Dump: "dump",
    Timeline: "timeline",
}


def _field_data(step: Action | Advance | SetIndex | SetWorstIndex) -> Data:
    """Fields by name; a send always says how, since that is what one looks for in it."""
    data: Data = {}
    for field in fields(step):
        value = getattr(step, field.name)
        if value != field.default or (isinstance(step, Send) and field.name == "mode"):
            data[field.name] = value
    if isinstance(step, Send):
        data["mode"] = str(step.mode)
        if step.queue is not None:
            data["queue"] = {"broker": step.queue.broker, "queue_id": step.queue.queue_id}
    return data


def _all_of(raw: Any, place: Place, *names: str) -> Data:
    """An object that holds these fields, all of them and no other."""
    data = members(raw, place, names)
    for name in names:
        if name not in data:
            place.refuse("a value", seen="nothing", in_words=True, hint=f"add {name}")
    return data
