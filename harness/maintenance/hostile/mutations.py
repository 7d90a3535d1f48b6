"""Random damage and hostile values in documents, as an editor, a disk or an attacker could write them."""

import json
import random
from copy import deepcopy
from typing import Any

import yaml

YAML_VALUES = (
    "!!bool x", "!!int ''", "!!timestamp x", "!!python/object/apply:os.system [id]", "!x y", "!!binary '*'", "!!set {a, b}",
    "0x" + "F" * 5_000, "9" * 5_000, "1e999", ".inf", ".nan", "-.inf", "0b_", "0x_", "0o7", "1:2:3", "2026-13-41",
    "0001-01-01", "9999-12-31", "2001-12-14t21:59:43.10-99:99", "'\\0'", '"\\0"', '"\\e[31m"', '"\\ud800"', '"\\x7f"',
    "&a [*a]", "*nobody", "&a {<<: *a}", "{<<: [{a: 1}, {b: 2}]}", "? [a]\n: b", "? {a: b}\n: c", "{1: a}", "{null: a}",
    "{true: a}", "{2026-01-01: a}", "[" * 50_000, "{a: " * 5_000, "- " * 5_000, "'" + "x" * 100_000 + "'", "", "~", "[]", "{}",
    "''", "=", "<<", "|\n  a\n b", ">-\n", "%YAML 9.9\n---\n", "---\na\n---\nb", "@", "`", "\t", "yes", "on", "-0", "\u2028", "\u202e",
    ("&a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
    "e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f]"),
)  # fmt: skip
"""Replacements of a value; the last one has 300 characters and expands to two million values."""

JSON_TEXTS = (
    "9" * 5_000, "-" + "9" * 25, "1e400", "NaN", "Infinity", "-Infinity", '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', "[" * 100_000,
    '{"a":' * 100_000, "[" * 500 + "]" * 500, '"' + "x" * 100_000 + '"', "null", "true", "[]", "{}", '""', "-1", "0.5", '"\ud7ff"', "01", "'a'",
    '{"a":1,"a":2}', "9223372036854775808", "18446744073709551616", "-9223372036854775809", '"9999-12-31T23:59:59Z"',
)  # fmt: skip

DATA_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30, 0.5, 1e308, -0.0, "", "x", "\x00", "\x1b[31m", "\u202e", "x" * 100_000,
    [], {}, [[]], [None], {"": 1}, {"a": {"b": {}}}, ["a"] * 1_000, "9999-12-31", "5.3.3", "-5", "../../x", "a/b", "*", "**" * 20, "(" * 50, "local[0]",
)  # fmt: skip

BYTES = (
    b"\xff",
    b"\x00",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\x1b[2J",
    b"\x7f",
    b"\xe2\x80\xa8",
    b"\xf4\x90\x80\x80",
)


def mutated_yaml(text: str, draw: random.Random) -> bytes:
    match draw.randrange(4):
        case 0:
            return yaml.safe_dump(changed(yaml.safe_load(text), draw), allow_unicode=draw.random() < 0.5).encode(
                "utf-8", "surrogatepass"
            )
        case 1:
            return _other_value(text, draw).encode("utf-8", "surrogatepass")
        case 2:
            return _damaged(_other_value(text, draw).encode("utf-8", "surrogatepass"), draw)
        case _:
            return _damaged(text.encode(), draw)


def mutated_json(text: str, draw: random.Random) -> bytes:
    """Damage a JSON document, or one of its lines."""
    match draw.randrange(4):
        case 0:
            lines = text.splitlines() if "\n{" in text else [text]
            at = draw.randrange(len(lines))
            lines[at] = json.dumps(changed(json.loads(lines[at]), draw))
            return "\n".join(lines).encode()
        case 1:
            return _replaced(text, draw).encode("utf-8", "surrogatepass")
        case 2:
            return _damaged(_replaced(text, draw).encode("utf-8", "surrogatepass"), draw)
        case _:
            return _damaged(text.encode(), draw)


def changed(data: Any, draw: random.Random) -> Any:
    """The data with one to three values replaced, removed, repeated or nested deeper."""
    for _ in range(draw.randint(1, 3)):
        places = list(_places(data, ()))
        if not places:
            return deepcopy(draw.choice(DATA_VALUES))
        *path, last = draw.choice(places)
        owner = data
        for step in path:
            owner = owner[step]
        match draw.randrange(5):
            case 0:
                del owner[last]
            case 1 if isinstance(owner, dict):
                owner[draw.choice(("format", "x", "", "name", "\x1b", "schema", "é" * 80))] = owner[last]
            case 1:
                owner.append(owner[last])
            case 2:
                owner[last] = [owner[last]]
            case _:
                owner[last] = deepcopy(draw.choice(DATA_VALUES))
    return data


def _places(data: Any, path: tuple[Any, ...]) -> Any:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in items:
        yield (*path, step)
        yield from _places(value, (*path, step))


def _other_value(text: str, draw: random.Random) -> str:
    lines = text.splitlines()
    at = draw.choice([number for number, line in enumerate(lines) if ":" in line])
    head = lines[at].partition(":")[0]
    lines[at] = f"{head}: {draw.choice(YAML_VALUES)}"
    return "\n".join(lines) + "\n"


def _replaced(text: str, draw: random.Random) -> str:
    """Replace one number, text or list of a JSON text."""
    marks = [at for at, one in enumerate(text) if one in ":,[" and at + 1 < len(text)]
    begin = draw.choice(marks) + 1
    end = min((at for one in ",}]" if (at := text.find(one, begin)) >= 0), default=len(text))
    return text[:begin] + draw.choice(JSON_TEXTS) + text[end:]


def _damaged(content: bytes, draw: random.Random) -> bytes:
    """Flip bits, change bytes, remove, repeat or zero a piece."""
    data = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        begin = draw.randrange(len(data) or 1)
        end = min(len(data), begin + draw.choice((1, 1, 5, 40, 400)))
        match draw.randrange(6):
            case 0 if data:
                data[begin % len(data)] ^= 1 << draw.randrange(8)
            case 1:
                data[begin:begin] = draw.choice(BYTES)
            case 2:
                del data[begin:end]
            case 3:
                data[begin:begin] = data[begin:end]
            case 4:
                data[begin:end] = bytes(end - begin)
            case _:
                del data[begin if draw.random() < 0.2 else len(data) :]
    return bytes(data)
