"""
Route answers of a name server with the relay's addresses in place of the brokers', and nothing else changed.

The text of the body is edited, not its meaning: fastjson's bare number keys and every field we do not know stay as they
came. Frames of name servers are few (one every poll), so all of them may be looked at.
"""

import re
from collections.abc import Mapping

_LENGTH_BYTES = 4
_ADDRESS = re.compile(rb'"(\[?[0-9A-Za-z.:-]+\]?:\d{1,5})"')


def rerouted(frame: bytes, relays: Mapping[str, str]) -> tuple[bytes, tuple[str, ...]]:
    """
    The frame (with its length word) with every known address replaced, and the addresses it names that are not known.

    A client that is told an address we do not know goes there past the relay, which must not stay unnoticed.
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
