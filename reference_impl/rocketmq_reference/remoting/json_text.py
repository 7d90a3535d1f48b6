"""
JSON as RocketMQ writes it: strict on the way out, and on the way in also with the bare integer keys of fastjson.

Servers before 4.9.4 (and later ones for clients that do not ask otherwise) write maps with number keys as
``{0:"127.0.0.1:10911"}``, which is no JSON (RemotingSerializable, 4.0.0-incubating to 5.3.3).
"""

import json
import re
from typing import Any

from rocketmq_reference.remoting.errors import RemotingCommandException

# A string is matched first so that nothing inside one is ever touched.
_STRING_OR_BARE_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|([{,]\s*)(-?\d+)(?=\s*:)')

_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def write_json(value: object) -> bytes:
    """Compact JSON in UTF-8."""
    return _ENCODER.encode(value).encode()


def read_json(text: bytes) -> Any:
    """
    Parse JSON in UTF-8, quoting bare integer keys where plain JSON fails.

    Raises RemotingCommandException if it is neither.
    """
    try:
        value, end = _DECODER.raw_decode(characters := text.decode())
        if end == len(characters):
            return value
    except ValueError:
        pass
    try:
        return json.loads(_STRING_OR_BARE_KEY.sub(_quote_key, text.decode()))
    except ValueError as error:
        raise RemotingCommandException(f"expected JSON, saw {text[:200]!r}: {error}") from error


def _quote_key(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f'{match[1]}"{match[2]}"'
