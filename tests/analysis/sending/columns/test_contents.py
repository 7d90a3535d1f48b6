"""Which stored messages certainly carry what was sent, on literal texts."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rocketdiff.analysis.sending.columns.arm_columns import WordDictionary, arm_columns
from rocketdiff.analysis.sending.columns.contents import (
    Carried,
    Contents,
    _by_code,
    _hashes,
    _matrix,
    _of_one_length,
    _offsets,
    _pattern,
    alike,
    contents_of,
)
from rocketdiff.analysis.sending.columns.stored_columns import stored_columns
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.message import body_digest, padded
from rocketdiff.traces.schema import TableName
from tests.analysis.builders import MS, S
from tests.analysis.trace_builders import SMALL, trace

Stored = dict[str, Any]
"""Columns of a stored message; ``planned``: the properties of its send. ``body``: what its digest is made of."""

EMPTY: dict[str, Any] = {"rocketdiff.id": "", "UNIQ_KEY": "", "KEYS": "k"}


def text(number: int, **others: str) -> str:
    """Canonical properties of a message of the run r, with a key of its own."""
    carried = {"rocketdiff.id": f"r/t/{number:02}", "UNIQ_KEY": f"0A{number:06}", "KEYS": "k"} | others
    return json.dumps(dict(sorted(carried.items())), separators=(",", ":"), ensure_ascii=False)


def read(
    *stored: Stored, clock: ClockAnchor | None = None, bodies_compared: bool = False, pieces: int = 1
) -> tuple[Contents, Carried]:
    """Contents of messages that were stored one by one, sent at 1 s for 10 ms with bodies of 32 bytes."""
    sends, copies = [], []
    for number, one in enumerate(stored):
        row: dict[str, Any] = {"properties": text(number)} | one
        planned, body = row.pop("planned", None), row.pop("body", padded(f"r/t/{number:02}", 32))
        place: dict[str, Any] = {"send": number, "queue_offset": number}
        sends.append(place | {"properties": planned, "start_ns": S, "end_ns": S + 10 * MS, "body_bytes": 32})
        copies.append(place | {"body_digest": body_digest(body)} | row)
    attempts = [{"send": number, "start_ns": S, "end_ns": S + 10 * MS} for number in range(len(stored))]
    case = trace(SMALL, sends=sends, attempts=attempts, stored=copies)
    brokers, everything = WordDictionary(), Carried()
    columns = arm_columns(case, Arm.BASELINE, brokers)
    assert columns is not None
    whole = case.tables[TableName.STORED, Arm.BASELINE]
    size = -(-whole.num_rows // pieces)
    cut = pa.concat_tables([whole.slice(size * number, size) for number in range(pieces)])
    held = stored_columns(cut, columns, brokers, len(stored))
    assert held is not None
    return contents_of(columns, held, everything, clock, bodies_compared=bodies_compared), everything


def usual(count: int) -> list[Stored]:
    return [{} for _ in range(count)]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 17])
def test_messages_of_one_pattern_are_sound(count: int) -> None:
    """Texts that differ in their key and their number alone share a set of properties."""
    found, everything = read(*usual(count))
    assert (found.sound.tolist(), found.told.tolist(), found.carried.tolist()) == (
        [True] * count,
        [True] * count,
        [0] * count,
    )
    assert everything.sets == [EMPTY]


OTHERS: dict[str, tuple[Stored, bool, dict[str, Any] | None]] = {
    "a further property": ({"properties": text(3, A="b")}, True, EMPTY | {"A": "b"}),
    "another value": ({"properties": text(3, KEYS="q")}, True, EMPTY | {"KEYS": "q"}),
    "a value as long": ({"properties": text(3).replace('"k"', '"j"')}, True, EMPTY | {"KEYS": "j"}),
    "a number of another length": ({"properties": text(3).replace("r/t/03", "r/t/3"), "body": padded("r/t/3", 32)}, True, EMPTY),
    "the number of another body": ({"properties": text(3).replace("r/t/03", "r/t/30")}, False, EMPTY),
    "an id of another topic": ({"properties": text(3).replace("r/t/03", "r/u/03"), "body": padded("r/u/03", 32)}, True, EMPTY),
    "an id without a topic": ({"properties": text(3).replace("r/t/03", "rrtt03"), "body": padded("rrtt03", 32)}, True, EMPTY),
    "another body": ({"body": padded("r/t/04", 32)}, False, EMPTY),
    "a longer body": ({"body": padded("r/t/03", 33)}, False, EMPTY),
    "no digest": ({"body_digest": None}, False, EMPTY),
    "a digest too short": ({"body_digest": "0123"}, False, EMPTY),
    "a digest of other characters": ({"body_digest": "xyz3456789abcdef"}, False, EMPTY),
    "the key of another message": ({"properties": text(3, UNIQ_KEY="0A000002")}, False, EMPTY),
    "no key": ({"properties": text(3).replace(',"UNIQ_KEY":"0A000003"', "").replace('"UNIQ_KEY":"0A000003",', "")}, True,
               {"rocketdiff.id": "", "KEYS": "k"}),
    "a quote in the key": ({"properties": text(3, UNIQ_KEY='0A0"0003')}, False, None),
    "a backslash in the number": ({"properties": text(3).replace("r/t/03", "r/t/\\\\")}, False, None),
    "the character after the last printable one": ({"properties": text(3).replace("0A000003", "0A00000\x7f")}, False, None),
    "a letter beyond ASCII": ({"properties": text(3, UNIQ_KEY="0Aä00003")}, False, None),
    "another alphabet": ({"properties": text(3, KEYS="ключ")}, True, EMPTY | {"KEYS": "ключ"}),
    "a number beyond ASCII": ({"properties": text(3).replace("r/t/03", "r/t/ü3")}, False, None),
    "a number for a value": ({"properties": '{"KEYS":1}'}, False, None),
    "no properties": ({"properties": None}, False, None),
    "empty properties": ({"properties": ""}, False, None),
    "a key that is a number": ({"properties": '{"A":"b","UNIQ_KEY":5}'}, False, None),
    "a name twice": ({"properties": text(3).replace('"KEYS":"k"', '"UNIQ_KEY":"0A9"')}, False, None),
    "no id": ({"properties": text(3).replace(',"rocketdiff.id":"r/t/03"', "")}, True, {"UNIQ_KEY": "", "KEYS": "k"}),
    "planned properties alone": ({"properties": '{"KEYS":"k"}', "planned": '{"KEYS":"k"}'}, True, {"KEYS": "k"}),
    "as planned": ({"planned": '{"KEYS":"k"}'}, True, EMPTY),
    "another value as planned": ({"properties": text(3, KEYS="q"), "planned": '{"KEYS":"q"}'}, True, EMPTY | {"KEYS": "q"}),
    "not as planned": ({"planned": '{"KEYS":"q"}'}, False, EMPTY),
    "less than planned": ({"planned": '{"A":"b","KEYS":"k"}'}, False, EMPTY),
    "a planned key": ({"planned": '{"UNIQ_KEY":"0A000003"}'}, False, EMPTY),
}  # fmt: skip
"""The fourth of ten messages: whether it is sound besides, and its properties; None if they are not known."""


@pytest.mark.parametrize("name", OTHERS)
def test_which_messages_are_sound(name: str) -> None:
    """A message is sound that has known properties as planned, a key of its own and the body that was sent."""
    row, is_sound, carried = OTHERS[name]
    found, everything = read(*usual(3), row, *usual(6))
    assert found.carried[0] == found.carried[9] == everything.sets.index(EMPTY)
    assert found.told.tolist() == [True] * 10
    same_key = name == "the key of another message"
    assert found.sound.tolist() == [*(not same_key or n != 2 for n in range(3)), is_sound, *[True] * 6]
    assert (None if found.carried[3] < 0 else everything.sets[found.carried[3]]) == carried


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_long_runs_of_texts_of_one_length(pieces: int) -> None:
    """Seventy, and seventy with one more property, in pieces of a table."""
    others = [{"properties": text(number, A="b")} for number in range(70, 140)]
    found, everything = read(*usual(70), *others, pieces=pieces)
    assert found.sound.all()
    assert found.carried.tolist() == [0] * 70 + [1] * 70
    assert everything.sets == [EMPTY, EMPTY | {"A": "b"}]


def test_a_key_of_a_message_that_fits_no_pattern_is_known() -> None:
    """A message with the same key as one that becomes an object is not sound."""
    found, _ = read(*usual(3), {"properties": text(3, UNIQ_KEY="0A000001", A="ä")}, *usual(2))
    assert found.sound.tolist() == [True, False, True, False, True, True]


def test_a_message_of_no_send_may_have_an_empty_id() -> None:
    """It has no planned body; the send that is not stored has no sound copy."""
    found, _ = read(*usual(2), {"send": None, "properties": text(2, **{"rocketdiff.id": ""})})
    assert (found.sound.tolist(), found.told.tolist()) == ([True, True, False], [True, True, False])


def test_digests_are_not_asked_where_bodies_were_compared() -> None:
    """Another body is then found by the reader; without any properties every message is sound, and nothing is known."""
    found, _ = read(*usual(2), {"body": b"other"}, bodies_compared=True)
    assert found.sound.tolist() == [True, True, True]
    bare, _ = read({"properties": None, "flag": 5}, {"properties": None, "sys_flag": 1, "flag": None})
    assert (bare.sound.tolist(), bare.told.tolist(), bare.carried.tolist()) == ([True, True], [False, False], [-1, -1])
    assert (bare.flag.tolist()[0], bare.sys_flag.tolist()[1]) == (5, 1)
    assert bare.flag.tolist()[1] not in (-1, 0, 5)


@pytest.mark.parametrize(
    ("born_ms", "is_sound"), [(989, False), (990, True), (1_000, True), (1_020, True), (1_021, False), (None, False)]
)
def test_a_message_is_born_in_its_call(born_ms: int | None, is_sound: bool) -> None:
    """The call lasts from 1,000 to 1,010 ms; 10 ms beside it are allowed, and without a clock any birth."""
    row = {"born_timestamp_ms": born_ms}
    assert read(row, clock=ClockAnchor(0, 0))[0].sound.tolist() == [is_sound]
    assert read(row)[0].sound.tolist() == [True]


def test_five_kinds_of_properties_are_more_than_the_patterns() -> None:
    """Of texts as long as each other four patterns are tried; the fifth is not known."""
    found, everything = read(*({"properties": text(n, KEYS=key)} for n, key in enumerate("abcdeabcde")))
    assert found.carried.tolist() == [0, 1, 2, 3, -1, 0, 1, 2, 3, -1]
    assert [one["KEYS"] for one in everything.sets] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("ids", "carried"),
    [
        ("r/t/00 r/u/01 r/v/02 r/w/03 r/x/04 r/t/05", [0, 0, 0, 0, -1, 0]),
        ("r-t-00 r-u-01 r-v-02 r-w-03 r-x-04 r-t-05", [0] * 6),
    ],
)
def test_ids_of_five_topics_are_more_than_the_patterns(ids: str, carried: list[int]) -> None:
    """Only the number at the end of an id is open, all of it without a topic; the properties are the same."""
    found, everything = read(
        *(
            {"properties": text(n, **{"rocketdiff.id": one}), "body": padded(one, 32)}
            for n, one in enumerate(ids.split())
        )
    )
    assert (found.carried.tolist(), everything.sets) == (carried, [EMPTY])
    assert found.sound.tolist() == [number == 0 for number in carried]


def test_characters_of_open_places() -> None:
    """Printable ASCII that neither ends nor escapes a JSON string, in the key and at the end of the id."""
    line = text(3).encode()
    for place in (line.index(b"r/t/03") + 4, line.index(b"0A000003") + 7):
        lines = np.tile(np.frombuffer(line, dtype=np.uint8), (256, 1))
        lines[:, place] = np.arange(256)
        pattern = _pattern(lines[ord("0")], Carried())
        assert pattern is not None
        plain = [code for code in range(32, 127) if chr(code) not in '"\\\\']
        assert np.flatnonzero(pattern.fits(lines)).tolist() == plain


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_offsets_of_texts(kind: Any) -> None:
    """Of a part of a column, in which a null has no length, and of no text."""
    assert _offsets(pa.array(["ab", None, "cde", "f"], kind).slice(1, 2)).tolist() == [2, 2, 5]
    assert _offsets(pa.array([], kind)).tolist() == [0]


@pytest.mark.parametrize("rows", [[0, 1, 2], [1, 2], [3], [0, 2], [0, 3], [0, 2, 4], [0, 2, 3], [1, 2, 4]])
def test_texts_of_one_length_as_lines(rows: list[int]) -> None:
    """Whether they follow each other or not."""
    texts = ["ab", "cd", "ef", "gh", "ij"]
    lines = _matrix(pa.array(["x", *texts]).slice(1), np.array(rows))
    assert [bytes(line).decode() for line in lines] == [texts[row] for row in rows]


def test_answers_of_no_codes() -> None:
    """None is asked."""
    assert _by_code(np.empty(0, dtype=np.int64), lambda _: pytest.fail("asked")).tolist() == []


@pytest.mark.parametrize("width", [0, 1, 7, 8, 9, 16, 17])
def test_keys_that_differ_in_one_character_have_different_hashes(width: int) -> None:
    """Equal keys have one hash, however many are read at once; a key that is longer by a character has another."""
    words = np.full((width + 2, width), ord("a"), dtype=np.uint8)
    words[range(width), range(width)] = ord("b")
    found = _hashes(words).tolist()
    assert found[-1] == found[-2]
    assert _hashes(words[:1]).tolist() == found[:1]
    assert len({*found, *_hashes(np.full((1, width + 1), ord("a"), dtype=np.uint8)).tolist()}) == width + 2


@pytest.mark.parametrize(
    ("lengths", "groups"),
    [
        ([3, 3, 0, 5, 3], [[0, 1, 4], [3]]),
        ([65_539, 3, 65_539, 3], [[1, 3], [0, 2]]),
        ([0, 0], []),
        ([7], [[0]]),
        ([3] * 40 + [5] * 48 + [3] * 40, [[*range(40), *range(88, 128)], [*range(40, 88)]]),
        ([3] * 40 + [5] * 49 + [3] * 40, [[*range(40)], [*range(40, 89)], [*range(89, 129)]]),
    ],
)
def test_rows_of_texts_of_one_length(lengths: list[int], groups: list[list[int]]) -> None:
    """Sorted by length unless there are over 64 rows a change of it; empty texts are in no group."""
    assert [group.tolist() for group in _of_one_length(np.array(lengths))] == groups


@pytest.mark.parametrize(
    ("one", "other", "planned", "is_alike"),
    [
        ({}, {}, None, True),
        ({"properties": text(0, KEYS="q")}, {}, None, False),
        ({"properties": text(0, KEYS="q")}, {}, '{"KEYS":"k"}', True),
        ({"properties": text(0, REAL_QID="1")}, {"properties": text(0, REAL_QID="2")}, None, True),
        ({"properties": text(0, REAL_QID="1")}, {}, None, False),
        ({"flag": 1}, {}, None, False),
        ({"sys_flag": 1}, {}, None, False),
        ({"properties": None}, {}, None, False),
    ],
)
def test_copies_of_both_arms_that_are_alike(one: Stored, other: Stored, planned: str | None, is_alike: bool) -> None:
    """All but planned properties, those that are new each time, and flags are compared."""
    usual_row = {"flag": 0, "sys_flag": 0, "planned": planned}
    found, everything = read(usual_row | one, {**usual_row, "properties": text(1, KEYS="k")} | other)
    first, second = (
        Contents(*(getattr(found, name)[[at]] for name in ("told", "sound", "carried", "flag", "sys_flag")))
        for at in (0, 1)
    )
    texts = (planned, None)
    assert alike(first, second, found.carried[:1] * 0, texts, everything).tolist() == [is_alike]
    assert alike(second, first, found.carried[:1] * 0, texts, everything).tolist() == [is_alike]
    unknown = replace(second, told=~second.told)
    assert alike(first, unknown, found.carried[:1] * 0, texts, everything).tolist() == [True]
    assert alike(unknown, first, found.carried[:1] * 0, texts, everything).tolist() == [True]
