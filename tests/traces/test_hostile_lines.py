"""No line of a subject can end a run or damage its journal: it is a record, or it is reported."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import msgspec
import pytest

from rocketdiff.core.arm import BASELINE, Arm, Member
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.received import Record
from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.records import decode_record
from rocketdiff.subjects.conversation import Conversation
from rocketdiff.traces.journal import read_arm_journal
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.reader import require_whole
from rocketdiff.traces.run_directory import RunDirectory
from tests.subjects.conversing import talk_of
from tests.traces import conftest as sample

ORIGIN_NS = 1_000_000_000_000
NewRun = Callable[..., RunDirectory]

VALUES = (
    b"-1", b"2147483647", b"2147483648", b"-2147483649", b"9223372036854775807", b"9223372036854775808", b"1e999", b"1e300",
    b"NaN", b"-Infinity", b"1.0", b"0.5", b"true", b"null", b'""', b'"\\u0000"', b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\xff"',
    b'"\\u001b[2J"', b'"\xe2\x80\xae"', b'"' + b"x" * 20_000 + b'"', b"[]", b"{}", b"9" * 5_000,
    b"[" * 2_000 + b"]" * 2_000, b"[" * 500 + b"]" * 500, b'{"a":' * 1_200 + b"1" + b"}" * 1_200, b'[["",0]]', b'[["b",2147483648]]',
)  # fmt: skip

HOSTILE = (
    b'{"type":"route","x":"\xff"}',
    b'{"type":"route","route":1,"at_ns":1000000000000,"queues":[["broker-a",2147483648]]}',
    b'{"type":"route","route":1,"at_ns":1000000000000,"queues":[["",0]]}',
    b'{"type":"done","sends":4,"deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"type":' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"type":"send","send":0,"thread":0,"start_ns":1000000000000,"end_ns":9223372036854775807,"status":"SEND_OK"}',
    b'{"type":"failed","stage":"send","message":"' + b"y" * 100_000 + b'"}',
    b"\x00" * 64,
    b"\xef\xbb\xbf{}",
)


def lines_of() -> list[bytes]:
    return [
        sample.line("hello", protocol=1, client="toy", version="x", capabilities=["plain"], pid=1, clock_ns=1),
        sample.line("ready", clock_ns=1),
        sample.line("route", route=1, at_ns=ORIGIN_NS, queues=[["broker-a", 0], ["broker-b", 0]]),
        sample.attempt(0, status="SEND_OK"),
        sample.attempt(1, error="RemotingTimeoutException", code=2),
        sample.send(0, status="SEND_OK", broker="broker-a", queue_id=0, queue_offset=9),
        sample.line("callback", send=0, thread=0, at_ns=ORIGIN_NS + 5, status="SEND_OK"),
        sample.line("done", sends=4),
        sample.line("failed", stage="setup", message="no route"),
    ]


def mutated(line: bytes, random: Random) -> bytes:
    """A value exchanged, a key doubled, a bit flipped, or bytes lost, changed or added."""
    kind = random.randrange(6)
    place = random.randrange(len(line))
    if kind == 0:
        members = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        members[random.choice(list(members))] = msgspec.Raw(random.choice(VALUES))
        line = b"{" + b",".join(b'"%s":%s' % (name.encode(), bytes(value)) for name, value in members.items()) + b"}"
    elif kind == 1:
        line = line[:-1] + b',"type":' + random.choice(VALUES) + b"}"
    elif kind == 2:
        line = line[:place] + bytes([line[place] ^ (1 << random.randrange(8))]) + line[place + 1 :]
    elif kind == 3:
        line = line[:place] + line[place + random.randrange(1, 9) :]
    elif kind == 4:
        line = line[:place] + random.randbytes(random.randrange(1, 9)) + line[place:]
    else:
        line = line[:place] + random.choice(VALUES) + line[place:]
    return line.replace(b"\n", b" ")


def heard(line: bytes) -> Record | None:
    """Decode as the runner does; only a protocol violation may be raised."""
    try:
        return decode_record(line).record
    except SubjectBroken as violation:
        str(violation).encode()  # it can be encoded
        return None


def written(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_runner_and_journal_accept_the_same_lines(tmp_path: Path) -> None:
    """The runner and the journal agree on which of 4,000 mutated lines are records."""
    random, honest = Random(7), lines_of()
    lines = [*HOSTILE, *(mutated(random.choice(honest), random) for _ in range(4_000))]
    taken = [heard(line) is not None for line in lines]
    assert 300 < sum(taken) < 3_000
    for line, is_taken in zip(lines, taken, strict=True):
        troubles = read_arm_journal(written(tmp_path / "j", [line])).troubles
        assert bool(troubles) is not is_taken, line[:200]


def test_a_conversation_raises_nothing_but_that_it_is_broken() -> None:
    """After its start a conversation raises only SubjectBroken, whatever the lines."""
    random, honest = Random(11), lines_of()
    for _ in range(400):
        talk = Conversation(SubjectId("toy", "x"))
        with suppress(SubjectBroken):
            talk.take(decode_record(honest[0]).record, 0)
            talk.prepare(talk_of(sample.PLAN))
            talk.take(decode_record(honest[1]).record, 0)
            talk.go(ORIGIN_NS)
            for line in random.choices(honest, k=6):
                if (record := heard(mutated(line, random) if random.random() < 0.5 else line)) is not None:
                    talk.take(record, ORIGIN_NS + 10**9)


@pytest.mark.parametrize("seed", range(4))
def test_any_journal_can_be_sealed(new_run: NewRun, seed: int) -> None:
    """A journal with a thousand mutated lines can be sealed, and its case is aborted."""
    random, run, honest = Random(seed), new_run(), lines_of()
    run.case(1).begin(sample.PLAN, clock=sample.CLOCK, origin_ns=sample.ORIGIN_NS)
    for arm in Arm:
        with run.case(1).recorder(Member(arm)) as recorder:
            for line in (*HOSTILE, *(mutated(random.choice(honest), random) for _ in range(1_000)), *honest):
                recorder.line(line)
    left = RunDirectory.open(run.path)
    left.seal()
    require_whole(RunDirectory.open(run.path))
    assert left.entry(1).status is CaseStatus.ABORTED
    for summary in left.entry(1).arms.values():
        assert summary.trouble_count > 400
        assert summary.failure is None or len(summary.failure) <= 1_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start_ns": ORIGIN_NS - 2_000_000}, "impossible times"),
        ({"end_ns": 2**63 - 1}, "impossible times"),
        ({"end_ns": ORIGIN_NS - 1}, "impossible times"),
        ({"returned_ns": 5}, "impossible times"),
        ({"queue_id": -7}, "queue_id is -7"),
        ({"queue_offset": -1}, "queue_offset is -1"),
        ({"broker": ""}, "broker is empty"),
        ({"broker": "a\x1b[2J"}, "broker has a control character"),
        ({"error": "E" * 20_000}, "error has 20,000 characters"),
    ],
)
def test_impossible_values_of_a_journal_are_no_rows(new_run: NewRun, change: dict[str, object], message: str) -> None:
    """Impossible values are not rows, as in a live run."""
    run = new_run()
    run.case(1).begin(sample.PLAN, clock=sample.CLOCK, origin_ns=sample.ORIGIN_NS)
    with run.case(1).recorder(BASELINE) as recorder:
        recorder.line(sample.send(0, **change))
    summary = run.case(1).seal().arms[Arm.BASELINE]
    assert (summary.sends, summary.trouble_count) == (0, 1)
    assert message in summary.troubles[0]
