"""Splits a byte stream into remoting frames, unchanged; nothing is decoded here."""

from rocketmq_reference.remoting.frames import FRAME_MAX_BYTES

_LENGTH_BYTES = 4
_LEAST_BYTES = 4
"""A frame has at least the word with its header length."""


class FrameSplitter:
    """
    Buffers bytes and returns complete frames, each with its length word.

    Bytes that are no frame (another protocol, TLS, a length no server accepts) are returned as received, and so is all that
    follows, because a relay must forward what it cannot parse. ``is_lost`` is set then.
    """

    __slots__ = ("_received", "is_lost")

    def __init__(self) -> None:
        self._received = bytearray()
        self.is_lost = False

    def feed(self, data: bytes) -> list[bytes]:
        """The frames completed by these bytes, or unparsable bytes as received, in order."""
        if self.is_lost:
            return [data]
        received = self._received
        if not received and len(data) >= 2 * _LENGTH_BYTES and _length(data, 0) == len(data) - _LENGTH_BYTES:
            return [data]  # one whole frame, as nearly always
        received += data
        frames: list[bytes] = []
        start = 0
        while len(received) - start >= _LENGTH_BYTES:
            total = _length(received, start)
            if not _LEAST_BYTES <= total <= FRAME_MAX_BYTES:
                self.is_lost = True
                frames.append(bytes(received[start:]))
                start = len(received)
                break
            end = start + _LENGTH_BYTES + total
            if end > len(received):
                break
            frames.append(bytes(received[start:end]))
            start = end
        del received[:start]
        return frames

    def rest(self) -> bytes:
        """The bytes of an unfinished frame."""
        rest = bytes(self._received)
        self._received.clear()
        return rest


def _length(data: bytes | bytearray, at: int) -> int:
    return int.from_bytes(data[at : at + _LENGTH_BYTES], "big")
