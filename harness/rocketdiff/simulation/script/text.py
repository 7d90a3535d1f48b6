"""The text of a script: JSON in, a frozen Script out, and the canonical form of it."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.script.model import Script
from rocketdiff.simulation.script.reading import read_script, to_dict

MOST_CHARACTERS = 64_000_000
"""A script of a hundred thousand steps has some ten million characters."""


def parse_script(script: str | bytes | Mapping[str, Any], name: str) -> Script:
    """
    A script from its text, or from data that was JSON; ``name`` is what messages and answers call it.

    Raises UsageError that says in one sentence what is wrong and where.
    """
    return read_script(_data(script, name) if isinstance(script, str | bytes) else dict(script), name)


def canonical(script: Script) -> str:
    """One line of JSON, the same for any two scripts that mean the same: to be kept, compared and digested."""
    return json.dumps(to_dict(script), ensure_ascii=False, separators=(",", ":"))


def _data(text: str | bytes, name: str) -> object:
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"a script of at most {MOST_CHARACTERS} characters ({name})", seen=f"{len(text)}")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except UsageError as problem:
        raise UsageError(f"{problem.expected} (script {name})", seen=problem.seen, hint=problem.hint) from None
    except json.JSONDecodeError as problem:
        raise UsageError(
            f"JSON in script {name}", seen=f"{problem.msg} on line {problem.lineno}, column {problem.colno}"
        ) from None
    except (ValueError, RecursionError) as problem:  # not UTF-8, a number of thousands of digits, or nested too deep
        raise UsageError(f"JSON in script {name}", seen=" ".join(str(problem).split())) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON itself would let the second of two equal keys win."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError("each key once in an object", seen=f"{twice!r} twice", hint="remove one of them")
    return data


def _no_number(constant: str) -> NoReturn:
    raise UsageError("a number", seen=constant)
