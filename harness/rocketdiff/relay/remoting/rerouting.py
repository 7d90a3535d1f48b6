"""
Route responses of a name server with broker addresses replaced by the relay's.

The body is edited as text, not parsed and written again, because fastjson's bare number keys and unknown fields must stay as
they are. Name server frames are few (one per poll), so every one is searched.
"""

import re
from collections.abc import Mapping

_LENGTH_BYTES = 4
_ADDRESS = re.compile(rb'"(\[?[0-9A-Za-z.:-]+\]?:\d{1,5})"')


def rerouted(frame: bytes, relays: Mapping[str, str]) -> tuple[bytes, tuple[str, ...]]:
    """
    The frame (with its length word) with every known address replaced, and the unknown addresses in it.

    A client connects to an unknown address directly, past the relay; the caller records it, and the case becomes invalid.
    """
    head_end = 2 * _LENGTH_BYTES + (int.from_bytes(frame[_LENGTH_BYTES : 2 * _LENGTH_BYTES], "big") & 0xFFFFFF)
    body = frame[head_end:]
    if b"brokerAddrs" not in body:
        return frame, ()
    unknown: list[str] = []

    def replaced(match: re.Match[bytes]) -> bytes:
        address = match[1].decode()
        relay = relays.get(address)
        if relay is None:
            unknown.append(address)
            return match[0]
        return b'"' + relay.encode() + b'"'

    changed = frame[_LENGTH_BYTES:head_end] + _ADDRESS.sub(replaced, body)
    return len(changed).to_bytes(_LENGTH_BYTES, "big") + changed, tuple(unknown)
