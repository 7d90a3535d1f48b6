"""One clear sentence for whatever is wrong with a file: where it stands, what was expected there, what was seen."""

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plain import shown
from rocketdiff.documents.yaml_source import Location, YamlSource
from rocketdiff.scenario import file_format

_PATTERN_IN_WORDS = {
    "name": "a path of lower-case words such as fault-latency/pause-one-of-two",
    "broker": "the letter of a broker such as b",
}

_LIMIT_IN_WORDS = {
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:.0f}",
    "too_short": "at least {min_length} entry",
    "string_too_short": "at least {min_length} characters",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "model_type": "a mapping",
    "dict_type": "a mapping",
}
"""Plain words for pydantic's kinds of error that need nothing but their limits."""


def refused(source: YamlSource, location: Location, *, expected: str, seen: str, hint: str = "") -> UsageError:
    """The error for one place of a file."""
    return UsageError(f"{expected} at {dotted(location)} ({source.place(location)})", seen=seen, hint=hint)


def first_refusal(source: YamlSource, problem: ValidationError) -> UsageError:
    """The first thing wrong by its place in the format, in our own words; the hint tells how many more there are."""
    details = problem.errors(include_url=False)
    fields = [item["loc"][:2] for item in details]

    def rank(item: ErrorDetails) -> tuple[bool, int, int]:
        # A misspelt field is both unknown and missing, and to call it unknown helps more; of a field that may be one of
        # several things, the alternative that came furthest is the one that was meant.
        return item["type"] != "extra_forbidden", fields.index(item["loc"][:2]), -len(_location(source, item))

    detail = min(details, key=rank)
    location = _location(source, detail)
    expected, hint = _worded(detail, location)
    seen = {"missing": "nothing", "extra_forbidden": shown(detail["loc"][-1])}.get(
        detail["type"], shown(detail["input"])
    )
    more = len(set(fields)) - 1
    if more > 0:
        hint = f"{hint}; {more} more to correct after this one" if hint else f"{more} more to correct after this one"
    return refused(source, location, expected=expected, seen=seen, hint=hint)


def dotted(location: Location) -> str:
    """``faults[0].broker``."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the top level"


def _worded(detail: ErrorDetails, location: Location) -> tuple[str, str]:
    """What was expected, and a hint, for one kind of pydantic error."""
    context: dict[str, Any] = detail.get("ctx", {})
    field = str(location[-1]) if location else ""
    expected, hint = _LIMIT_IN_WORDS.get(detail["type"], detail["msg"]).format_map(context), ""
    match detail["type"]:
        case "missing":
            expected, hint = "a value", f"add {field}"
        case "extra_forbidden":
            expected, hint = _unknown_field(field, detail["loc"][:-1])
        case "literal_error":
            expected = f"one of {context['expected'].replace(' or ', ', ')}"
        case "union_tag_invalid" | "union_tag_not_found":
            expected, hint = "a fault of a known kind", f"write kind: {_KINDS_IN_WORDS}"
        case "string_pattern_mismatch":
            expected = _PATTERN_IN_WORDS.get(field, f"text like {context['pattern']}")
    return expected, hint


_PARTS: dict[str | int, type[BaseModel]] = {
    "topic": file_format.TopicPart,
    "settings": file_format.SettingsPart,
    "workload": file_format.WorkloadPart,
    "pause": file_format.PausePart,
    "kill": file_format.KillPart,
    "pause-name-server": file_format.NameServerPausePart,
    "pause-slave": file_format.SlavePausePart,
    "kill-slave": file_format.SlaveKillPart,
    "read-only": file_format.BrokerSettingPart,
    "flow-control": file_format.BrokerSettingPart,
    "flush-timeout": file_format.BrokerSettingPart,
    "wire-delay": file_format.WireDelayPart,
    "wire-reset": file_format.WirePart,
    "wire-swallow": file_format.WirePart,
    "timing": file_format.TolerancePart,
    "failover-time": file_format.TolerancePart,
}
"""Last step of a location (for a fault, its kind) to the part of the format that stands there."""

_KINDS_IN_WORDS = (
    "pause, kill, pause-name-server, pause-slave, kill-slave, read-only, flow-control, flush-timeout,"
    " wire-delay, wire-reset or wire-swallow"
)


_NO_SEND_CROSSES = "faults on the wire are done to brokers, since no send crosses the way to a name server; to silence one, kind: pause-name-server"
"""What a client asks a name server is its route poll, every 30 s: no check is about how that ends."""


def _unknown_field(name: str, parent: Location) -> tuple[str, str]:
    part = _PARTS[parent[-1]] if parent else file_format.ScenarioFile
    known = list(part.model_fields)
    expected = f"one of the fields {', '.join(known)}"
    if name == "name_server" and part in (file_format.WirePart, file_format.WireDelayPart):
        return expected, _NO_SEND_CROSSES
    close = get_close_matches(name, known, n=1)
    return expected, close[0] if close else ""


def _location(source: YamlSource, detail: ErrorDetails) -> Location:
    """Where the file has the error: without the names pydantic puts in for the members of a union."""
    kept: list[str | int] = []
    data = source.data
    for step in detail["loc"]:
        there = (isinstance(data, dict) and step in data) or (isinstance(data, list) and isinstance(step, int))
        if there:
            data = data[step]
            kept.append(step)
    return (*kept, detail["loc"][-1]) if detail["type"] == "missing" else tuple(kept)
