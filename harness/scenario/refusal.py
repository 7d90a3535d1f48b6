"""One clear sentence for whatever is wrong with a file: where it stands, what was expected there, what was seen."""

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness.core.errors import UsageError
from harness.scenario import file_format
from harness.scenario.yaml_source import Location, YamlSource

_PATTERN_IN_WORDS = {
    "name": "a path of lower-case words such as fault-latency/pause-one-of-two",
    "broker": "the letter of a broker such as b",
}

_SHOWN_CHARACTERS = 60
"""How much of a wrong value a message repeats."""


def refused(source: YamlSource, location: Location, *, expected: str, seen: str, hint: str = "") -> UsageError:
    """The error for one place of a file."""
    return UsageError(f"{expected} at {dotted(location)} ({source.place(location)})", seen=seen, hint=hint)


def first_refusal(source: YamlSource, problem: ValidationError) -> UsageError:
    """The first thing wrong by its place in the format, in our own words; the hint tells how many more there are."""
    # A misspelt field is both unknown and missing; to call it unknown helps more.
    details = sorted(problem.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
    detail = details[0]
    location = _location(source, detail)
    expected, hint = _worded(detail, location)
    seen = {"missing": "nothing", "extra_forbidden": repr(detail["loc"][-1])}.get(
        detail["type"], _shown(detail["input"])
    )
    more = len({item["loc"][:3] for item in details}) - 1
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
    expected, hint = _sentence(detail["msg"]), ""
    match detail["type"]:
        case "missing":
            expected, hint = "a value", f"add {field}"
        case "extra_forbidden":
            expected, hint = _unknown_field(field, detail["loc"][:-1])
        case "literal_error":
            expected = f"one of {context['expected'].replace(' or ', ', ')}"
        case "union_tag_invalid" | "union_tag_not_found":
            expected, hint = "a fault of a known kind", "write kind: pause, kill or pause-name-server"
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
    "timing": file_format.TolerancePart,
    "failover-time": file_format.TolerancePart,
}
"""Last step of a location (for a fault, its kind) to the part of the format that stands there."""


def _unknown_field(name: str, parent: Location) -> tuple[str, str]:
    part = _PARTS[parent[-1]] if parent else file_format.ScenarioFile
    known = list(part.model_fields)
    close = get_close_matches(name, known, n=1)
    return f"one of the fields {', '.join(known)}", f"did you mean {close[0]}?" if close else ""


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


def _sentence(message: str) -> str:
    """Pydantic says ``Input should be a valid integer``; we say what was expected."""
    return message.removeprefix("Input should be ").removeprefix("have ")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
