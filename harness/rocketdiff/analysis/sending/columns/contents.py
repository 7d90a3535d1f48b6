"""
Finds stored messages that certainly satisfy ``checks/storage/content``, from the text of their properties.

Properties are canonical JSON. Within an arm they differ between messages only in the value of UNIQ_KEY and the end of our own id.
So texts of one length are compared byte by byte with a *pattern*: one of the texts, with these two places open. A text that
fits, with only printable ASCII without quote and backslash in the open places, has the properties of its pattern.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketdiff.analysis.case_trace import integers_or, rows_at
from rocketdiff.analysis.sending.checks.storage.content import BORN_CLOCK_MS, NEW_EACH_TIME, UNIQ_KEY
from rocketdiff.analysis.sending.columns.arm_columns import MISSING, ArmColumns, Ints, Mask
from rocketdiff.analysis.sending.columns.stored_columns import StoredColumns
from rocketdiff.analysis.sending.wall_times import wall_range_ms
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.message import ID_PROPERTY, padded

Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]

PATTERNS = 4
"""Patterns tried on the texts of one length; a message that fits none becomes an object."""

_DIGEST_BYTES = 8
"""Bytes of SHA-256 that ``body_digest`` keeps."""

_SHORT = 64
"""Mean length of runs of equally long texts above which the rows are not sorted by length."""

_NO_FLAG = np.iinfo(np.int64).min
_MANY = 1 << 20
_BLOCK = 4_096
"""Texts compared at a time: few enough for the CPU cache."""

_PACKED_FROM = 256
"""Lines from which on packing them into numbers pays."""

_ALL_BITS = np.uint8(0xFF)

_SPACE, _DELETE = np.uint8(0x20), np.uint8(0x7F)
"""The first printable ASCII character, and the one after the last."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text with open places; ``carried``: number of its property set."""

    text: Bytes
    closed: Mask
    key: slice | None
    identity: slice | None
    open_end: slice | None
    carried: int

    def fits(self, lines: Bytes) -> Mask:
        """True for lines equal to this text, if no character in the open places ends or escapes a JSON string."""
        fits = self._is_closed_alike(lines)
        for place in (self.key, self.open_end):
            if place is not None:
                words = np.ascontiguousarray(lines[:, place])
                is_plain = (words - _SPACE < _DELETE - _SPACE) & (words != ord('"')) & (words != ord("\\"))
                if not bool(is_plain.all()):
                    fits &= is_plain.all(axis=1)
        return fits

    def _is_closed_alike(self, lines: Bytes) -> Mask:
        # Eight lines of n bytes are compared as n numbers of eight bytes.
        rows, width = lines.shape
        if rows < _PACKED_FROM:
            return np.asarray(~((lines ^ self.text) & self.closed * _ALL_BITS).any(axis=1))
        even = rows - rows % 8
        fits = np.ones(rows, dtype=np.bool_)
        closed = self.closed * _ALL_BITS
        numbers = np.ascontiguousarray(lines[:even]).reshape(-1).view(np.uint64).reshape(-1, width)
        differs = numbers ^ np.tile(self.text, 8).view(np.uint64)
        differs &= np.tile(closed, 8).view(np.uint64)
        if int(differs.max(initial=0)):
            fits[:even] = ~differs.view(np.uint8).reshape(-1, width).any(axis=1)
        fits[even:] = ~((lines[even:] ^ self.text) & closed).any(axis=1)
        return fits


@dataclass(slots=True)
class Carried:
    """The distinct property sets of both arms of a case, numbered; open places have empty values."""

    sets: list[dict[str, str]] = field(default_factory=list)
    numbers: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)

    def number_of(self, carried: dict[str, str]) -> int:
        key = tuple(sorted(carried.items()))
        if key not in self.numbers:
            self.numbers[key] = len(self.sets)
            self.sets.append(carried)
        return self.numbers[key]


@dataclass(frozen=True, slots=True)
class Contents:
    """
    Arrays by view.

    told: the copy has known properties. sound: they certainly agree with plan and call. carried: number of its property set.
    """

    told: Mask
    sound: Mask
    carried: Ints
    flag: Ints
    sys_flag: Ints


def contents_of(
    columns: ArmColumns,
    stored: StoredColumns,
    everything: Carried,
    clock: ClockAnchor | None,
    *,
    bodies_compared: bool,
) -> Contents:
    """
    Return the contents of an arm's views.

    bodies_compared: digests are not needed, because a damaged body is not at home and its send becomes an object anyway.
    """
    row = stored.row

    def of_copy(values: Any) -> Ints:
        return np.asarray(np.append(values, MISSING)[row], dtype=np.int64)

    properties = stored.table.column("properties")
    flag, sys_flag = (of_copy(integers_or(stored.table.column(name), _NO_FLAG)) for name in ("flag", "sys_flag"))
    if properties.null_count == len(properties):
        nothing = np.full(row.size, MISSING, dtype=np.int64)
        return Contents(nothing >= 0, np.ones(row.size, dtype=np.bool_), nothing, flag, sys_flag)
    body_bytes = np.full(stored.rows + 1, MISSING, dtype=np.int64)
    body_bytes[row] = columns.body_bytes  # the last element collects views without a copy and is dropped
    digests = None if bodies_compared else _digests(stored.table.column("body_digest"))
    texts = _Texts.read(properties, digests, body_bytes[:-1], everything)
    sound = of_copy(texts.is_sound()) == 1
    carried = of_copy(texts.carried)
    sound &= _as_planned(columns, carried, everything)
    if clock is not None:
        sound &= _born_in_call(columns, stored, clock)
    return Contents(row >= 0, sound, carried, flag, sys_flag)


def alike(one: Contents, other: Contents, properties: Ints, texts: Sequence[str | None], everything: Carried) -> Mask:
    """True where the copies of both arms are certainly alike; properties: the planned ones, as indexes into ``texts``."""
    width = len(everything.sets) + 1
    codes = ((one.carried + 1) * width + other.carried + 1) * len(texts) + properties % len(texts)

    def is_same(code: int) -> bool:
        pair, planned = divmod(code, len(texts))
        ours, theirs = divmod(pair, width)
        return min(ours, theirs) > 0 and _carry_alike(
            everything.sets[ours - 1], everything.sets[theirs - 1], texts[planned]
        )

    both_known = one.told & other.told
    is_alike = _by_code(codes, is_same) & (one.flag == other.flag) & (one.sys_flag == other.sys_flag)
    return np.asarray(~both_known | is_alike)


def _carry_alike(ours: dict[str, str], theirs: dict[str, str], planned: str | None) -> bool:
    names = (ours.keys() | theirs.keys()) - json.loads(planned or "{}").keys()
    return all(
        name in ours and name in theirs and (name in NEW_EACH_TIME or ours[name] == theirs[name]) for name in names
    )


def _as_planned(columns: ArmColumns, carried: Ints, everything: Carried) -> Mask:
    texts = columns.planned_properties
    codes = (carried + 1) * len(texts) + columns.properties % len(texts)

    def is_good(code: int) -> bool:
        number, planned = divmod(code, len(texts))
        wanted = json.loads(texts[planned] or "{}")
        return (
            number > 0 and not NEW_EACH_TIME & wanted.keys() and wanted.items() <= everything.sets[number - 1].items()
        )

    return _by_code(codes, is_good)


def _by_code(codes: Ints, answer: Callable[[int], bool]) -> Mask:
    found = np.flatnonzero(np.bincount(codes)) if int(codes.max(initial=0)) < _MANY else np.unique(codes)
    answers = np.array([answer(code) for code in found.tolist()], dtype=np.bool_)
    return answers[np.searchsorted(found, codes)] if answers.size else np.zeros(0, dtype=np.bool_)


def _born_in_call(columns: ArmColumns, stored: StoredColumns, clock: ClockAnchor) -> Mask:
    last_ns = np.maximum(np.maximum(columns.end_ns, columns.answered_ns), 0)
    begin_ms, end_ms = wall_range_ms(clock, columns.start_ns, last_ns)
    return np.asarray((begin_ms - BORN_CLOCK_MS <= stored.born_ms) & (stored.born_ms <= end_ms + BORN_CLOCK_MS))


@dataclass(slots=True)
class _Texts:
    """
    By stored message: property set, hash of UNIQ_KEY, and whether it is sound apart from its key.

    body_bytes: planned size; digests: of bodies, None if not needed.
    """

    body_bytes: Ints
    digests: Hashes | None
    carried: Ints
    keys: Hashes
    has_key: Mask
    sound: Mask

    @classmethod
    def read(cls, properties: Any, digests: Hashes | None, body_bytes: Ints, everything: Carried) -> "_Texts":
        rows = len(properties)
        texts = cls(
            body_bytes,
            digests,
            np.full(rows, MISSING, dtype=np.int64),
            np.zeros(rows, dtype=np.uint64),
            np.zeros(rows, dtype=np.bool_),
            np.zeros(rows, dtype=np.bool_),
        )
        first = 0
        for chunk in properties.chunks:
            texts._read_chunk(chunk, first, everything)
            first += len(chunk)
        texts._read_others(properties)
        return texts

    def _read_others(self, properties: Any) -> None:
        """Read the keys of messages that fit no pattern, because a calm message may have the same key."""
        for row in np.flatnonzero(self.carried == MISSING).tolist():
            key = json.loads(properties[row].as_py() or "{}").get(UNIQ_KEY)
            if isinstance(key, str) and key:
                word = np.frombuffer(key.encode(errors="surrogatepass"), dtype=np.uint8).reshape(1, -1)
                self.keys[row], self.has_key[row] = _hashes(word)[0], True

    def is_sound(self) -> Mask:
        """True for messages with known properties, a unique key and the body that was sent."""
        keys = self.keys if bool(self.has_key.all()) else self.keys[self.has_key]
        ordered = np.sort(keys)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        return self.sound & ~(self.has_key & np.isin(self.keys, twice)) if twice.size else self.sound

    def _read_chunk(self, chunk: Any, first: int, everything: Carried) -> None:
        lengths = np.diff(_offsets(chunk))
        if chunk.null_count:
            lengths = np.where(chunk.is_valid().to_numpy(zero_copy_only=False), lengths, 0)
        for group in _of_one_length(lengths):
            for start in range(0, group.size, _BLOCK):
                rows = group[start : start + _BLOCK]
                self._read_block(_matrix(chunk, rows), rows + first, everything)

    def _read_block(self, lines: Bytes, rows: Ints, everything: Carried) -> None:
        for _ in range(PATTERNS):
            pattern = _pattern(lines[0], everything)
            if pattern is None:
                return
            fits = pattern.fits(lines)
            if bool(fits.all()):
                self._note(lines, pattern, rows)
                return
            self._note(lines[fits], pattern, rows[fits])
            lines, rows = lines[~fits], rows[~fits]

    def _note(self, lines: Bytes, pattern: Pattern, rows: Ints) -> None:
        self.carried[rows] = pattern.carried
        if pattern.key is not None:
            self.keys[rows] = _hashes(lines[:, pattern.key])
            self.has_key[rows] = True
        if pattern.identity is None or self.digests is None:
            self.sound[rows] = True
            return
        identities, body_bytes = lines[:, pattern.identity], self.body_bytes[rows]
        for size in np.unique(body_bytes).tolist():
            if size >= 0:
                here = np.flatnonzero(body_bytes == size)
                self.sound[rows[here]] = _body_digests(identities[here], size) == self.digests[rows[here]]


def _pattern(text: Bytes, everything: Carried) -> Pattern | None:
    """Return the pattern of a text, a JSON object; None if it is not flat, or its open places are ambiguous or not ASCII."""
    content = text.tobytes()
    carried: dict[str, str] = json.loads(content.decode())
    if not all(isinstance(value, str) for value in carried.values()):
        return None
    key, identity = _place_of_value(content, carried, UNIQ_KEY), _place_of_value(content, carried, ID_PROPERTY)
    if (UNIQ_KEY in carried) != (key is not None) or (ID_PROPERTY in carried) != (identity is not None):
        return None
    closed = np.ones(len(content), dtype=np.bool_)
    open_end = None
    if key is not None:
        closed[key] = False
    if identity is not None:
        open_end = slice(content.rfind(b"/", identity.start, identity.stop) + 1 or identity.start, identity.stop)
        closed[open_end] = False
    blank = {name: "" if name in (UNIQ_KEY, ID_PROPERTY) else value for name, value in carried.items()}
    return Pattern(text.copy(), closed, key, identity, open_end, everything.number_of(blank))


def _place_of_value(content: bytes, carried: dict[str, str], name: str) -> slice | None:
    """Return the position of a property's value; None if it is not certain, or escaped in part."""
    needle = f'"{name}":"'.encode()
    if name not in carried or not carried[name].isascii() or content.count(needle) != 1:
        return None
    begin = content.index(needle) + len(needle)
    place = slice(begin, begin + len(carried[name]))
    return None if b"\\" in content[place] else place


def _hashes(words: Bytes) -> Hashes:
    width = -(-words.shape[1] // 8) * 8
    wide = np.zeros((words.shape[0], max(width, 8)), dtype=np.uint8)
    wide[:, : words.shape[1]] = words
    found = np.full(words.shape[0], words.shape[1], dtype=np.uint64)
    for part in np.ascontiguousarray(wide).view(np.uint64).T:
        found = (found ^ part) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found


def _body_digests(identities: Bytes, size: int) -> Hashes:
    """Return the first eight bytes of each body's digest as a number."""
    width = max(size, identities.shape[1])
    bodies = np.frombuffer(padded("", width), dtype=np.uint8) * np.ones((identities.shape[0], 1), dtype=np.uint8)
    bodies[:, : identities.shape[1]] = identities
    content, digest = memoryview(bodies.tobytes()), hashlib.sha256
    made = b"".join([digest(content[at : at + width]).digest() for at in range(0, len(content), width)])
    return np.frombuffer(made, dtype=np.uint64).reshape(-1, 4)[:, 0]


def _digests(column: Any) -> Hashes:
    """Return stored digests as numbers like those of ``_body_digests``; 0 for an invalid digest."""
    parts = [_digest_numbers(chunk) for chunk in column.chunks]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


_DIGITS = np.full(256, 255, dtype=np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)


def _digest_numbers(chunk: Any) -> Hashes:
    found = np.zeros(len(chunk), dtype=np.uint64)
    rows = np.flatnonzero(np.diff(_offsets(chunk)) == 2 * _DIGEST_BYTES)
    if rows.size:
        digits = _DIGITS[_matrix(chunk, rows)]
        number = np.ascontiguousarray((digits[:, ::2] << 4) | (digits[:, 1::2] & 15)).view(np.uint64)[:, 0]
        found[rows] = np.where((digits < 16).all(axis=1), number, np.uint64(0))
    return found


def _offsets(chunk: Any) -> Ints:
    """Return the start of each text and the end of the last; a null has length 0."""
    kind = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    if not len(chunk):
        return np.zeros(1, dtype=np.int64)
    return np.frombuffer(chunk.buffers()[1], dtype=kind)[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)


def _of_one_length(lengths: Ints) -> Iterator[Ints]:
    """Yield groups of rows with equally long, non-empty texts; rows are sorted by length only if runs are short."""
    edges = np.flatnonzero(np.diff(lengths)) + 1
    if edges.size * _SHORT < lengths.size:
        rows = np.arange(lengths.size)
    else:
        rows = np.argsort(lengths.astype(np.uint16) if int(lengths.max()) < 65_536 else lengths, kind="stable")
        edges = np.flatnonzero(np.diff(lengths[rows])) + 1
    return (group for group in np.split(rows, edges) if group.size and lengths[group[0]])


def _matrix(chunk: Any, rows: Ints) -> Bytes:
    """Return texts of one length as a matrix, one per line."""
    texts = rows_at(chunk, rows)
    offsets = _offsets(texts)
    data = np.frombuffer(texts.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
    return data.reshape(rows.size, -1)
