"""The steps of a script, in both directions: a step is an object with one key, and each key has its reader here."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Annotated, Any

from msgspec import Meta

from rocketdiff.simulation.script.answers import answer_data, answers_data, read_answer, read_answers
from rocketdiff.simulation.script.fields import Place, convert, members, nearest, read, shown
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
from rocketdiff.simulation.script.routes import read_route, route_data
from rocketdiff.simulation.script.vocabulary import MOST_STEPS, BrokerName, DumpPart, Fault, Mode, Ms, Thread

Reader = Callable[[Any, Place], Step]
Data = dict[str, Any]

NAME_SERVER_FAULTS = (Fault.TIMEOUT, Fault.REFUSED)
"""What a name server can do instead of answering; with brokers it is also done to connections that are in use."""

_DumpParts = Annotated[tuple[DumpPart, ...], Meta(min_length=1)]


def _plain(kind: type[Step]) -> Reader:
    """A step whose fields are written as they are named."""
    return lambda raw, place: read(kind, raw, place)


def _sign(kind: type[PollRoutes | Heartbeat]) -> Reader:
    """A step that says nothing but that it is to happen."""

    def reader(raw: Any, place: Place) -> Step:
        if raw is not True:
            place.refuse("true", seen=raw)
        return kind()

    return reader


def _read_advance(raw: Any, place: Place) -> Step:
    return Advance(convert(Ms, raw, place))


def _read_broker(raw: Any, place: Place) -> Step:
    data = members(raw, place, ("name", "answers"))
    _require(data, ("name", "answers"), place)
    return BrokerAnswers(
        convert(BrokerName, data["name"], place / "name"), read_answers(data["answers"], place / "answers")
    )


def _read_name_server(raw: Any, place: Place) -> Step:
    data = members(raw, place, ("answers",))
    _require(data, ("answers",), place)
    answer = read_answer(data["answers"], place / "answers")
    if answer.fault not in (None, *NAME_SERVER_FAULTS):
        (place / "answers").refuse("a latency, timeout, refused or a code from a name server", seen=data["answers"])
    return NameServerAnswers(answer)


def _read_route(raw: Any, place: Place) -> Step:
    return RouteChange(read_route(raw, place))


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
    parts = convert(_DumpParts, raw, place)
    if len(set(parts)) < len(parts):
        place.refuse("each part once", seen=[str(part) for part in parts])
    return Dump(tuple(part for part in DumpPart if part in parts))


def _read_timeline(raw: Any, place: Place) -> Step:
    if not isinstance(raw, list) or not 0 < len(raw) <= MOST_STEPS:
        place.refuse(f"a list of 1 to {MOST_STEPS} entries", seen=raw)
    return Timeline(tuple(_read_entry(entry, place / number) for number, entry in enumerate(raw)))


def _read_entry(raw: Any, place: Place) -> Entry:
    data = members(raw, place, ("at_ms", "thread", *_ACTIONS))
    _require(data, ("at_ms",), place)
    at_ms = convert(Ms, data["at_ms"], place / "at_ms")
    keys = [key for key in data if key in _ACTIONS]
    if len(keys) != 1:
        place.refuse("exactly one action beside at_ms", seen=", ".join(keys) or "none", in_words=True)
    action = _ACTIONS[keys[0]](data[keys[0]], place / keys[0])
    if not isinstance(action, Send | Select):
        if "thread" in data:
            (place / "thread").refuse("no thread", seen=data["thread"], hint=f"{keys[0]} is done by the environment")
        return Entry(at_ms, action)
    if "thread" in data[keys[0]]:
        (place / keys[0] / "thread").refuse("no thread here", seen=action.thread, hint="write it beside at_ms")
    thread = convert(Thread, data.get("thread", 0), place / "thread")
    return Entry(at_ms, replace(action, thread=thread))


_ACTIONS: Mapping[str, Callable[[Any, Place], Any]] = {
    "update": _plain(Update),
    "select": _plain(Select),
    "broker": _read_broker,
    "name_server": _read_name_server,
    "route": _read_route,
    "poll_routes": _sign(PollRoutes),
    "pause": _plain(Pause),
    "resume": _plain(Resume),
    "kill": _plain(Kill),
    "restart": _plain(Restart),
    "close": _plain(Close),
    "send": _read_send,
    "heartbeat": _sign(Heartbeat),
}
"""What can stand in a step or in a timeline."""

STEPS: Mapping[str, Reader] = {
    **_ACTIONS,
    "advance_ms": _read_advance,
    "index": _plain(SetIndex),
    "worst_index": _plain(SetWorstIndex),
    "dump": _read_dump,
    "timeline": _read_timeline,
}
"""Every kind of step by its key."""


def read_step(raw: object, place: Place) -> Step:
    """A step from an object with one key."""
    if not isinstance(raw, dict) or len(raw) != 1:
        seen = ", ".join(map(str, raw)) or "none" if isinstance(raw, dict) else shown(raw)
        place.refuse("a step: an object with one key", seen=seen, in_words=True)
    ((key, value),) = raw.items()
    if key not in STEPS:
        place.refuse(f"one of the steps {', '.join(STEPS)}", seen=key, hint=nearest(key, STEPS))
    return STEPS[key](value, place / key)


def step_data(step: Step) -> Data:
    """A step as the script writes it: what has its default is left out."""
    return {_KEYS[type(step)]: _content(step)}


def _content(step: Step) -> Any:
    match step:
        case Advance(advance_ms):
            content: Any = advance_ms
        case BrokerAnswers(name, answers):
            content = {"name": name, "answers": answers_data(answers)}
        case NameServerAnswers(answer):
            content = {"answers": answer_data(answer)}
        case RouteChange(route):
            content = route_data(route)
        case PollRoutes() | Heartbeat():
            content = True
        case Dump(parts):
            content = [str(part) for part in parts]
        case Timeline(entries):
            content = [_entry_data(entry) for entry in entries]
        case _:
            content = _field_data(step)
    return content


_KEYS: Mapping[type[Step], str] = {
    Update: "update",
    Select: "select",
    Advance: "advance_ms",
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


def _entry_data(entry: Entry) -> Data:
    data = step_data(entry.action)
    head: Data = {"at_ms": entry.at_ms}
    for content in data.values():
        if isinstance(entry.action, Send | Select) and "thread" in content:
            head["thread"] = content.pop("thread")
    return head | data


def _field_data(step: Action | SetIndex | SetWorstIndex) -> Data:
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


def _require(data: Data, names: tuple[str, ...], place: Place) -> None:
    for name in names:
        if name not in data:
            place.refuse("a value", seen="nothing", in_words=True, hint=f"add {name}")
