"""
JSON as RocketMQ uses it: writes strict JSON, and also reads fastjson's bare integer keys.

Servers before 4.9.4 (and later ones unless the client asks for strict JSON) write maps with number keys as
``{0:"127.0.0.1:10911"}``, which is not JSON (RemotingSerializable, 4.0.0-incubating to 5.3.3).
"""

import json
import re
from typing import Any

from rocketmq_reference.remoting.errors import RemotingCommandException

# Strings are matched first so that their content is never changed.
_STRING_OR_BARE_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|([{,]\s*)(-?\d+)(?=\s*:)')

_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def write_json(value: object) -> bytes:
    """Return compact JSON in UTF-8."""
    return _ENCODER.encode(value).encode()


def read_json(text: bytes) -> Any:
    """
    Parse JSON in UTF-8; if that fails, quote bare integer keys and try again.

    Raises RemotingCommandException if both fail.
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
