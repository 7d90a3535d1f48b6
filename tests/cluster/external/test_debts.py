"""What is owed is on disk before it is done, and is paid by whoever comes after a run that was killed."""

import os
import signal
import time
from pathlib import Path

import msgspec
import pytest

from rocketdiff.cluster.external import debts as module
from rocketdiff.cluster.external.cleaning import clean
from rocketdiff.cluster.external.debts import (
    Debts,
    TopicOwed,
    debts_of_the_dead,
    owners_at_work,
    taken_over,
)
from rocketdiff.cluster.external.guardian import Guard
from rocketdiff.core.errors import ClusterError
from tests.cluster.external.killed_runs import OWNER, all_paid, died, resume, run_of
from tests.cluster.external.owned import PREFIX, Owned


def topic(owned: Owned, name: str) -> TopicOwed:
    brokers = tuple(broker.address for broker in owned.brokers.values())
    return TopicOwed(name, brokers, (owned.name_server.address,))


def test_what_is_not_paid_is_found_by_others_when_its_run_is_gone(home: Path) -> None:
    """Not before; and what was paid is not owed any more."""
    debts = Debts.begin(OWNER)
    first, second = (TopicOwed(name, ("127.0.0.1:2",), ("127.0.0.1:1",)) for name in ("x-1", "x-2"))
    for debt in (first, second):
        debts.owe(debt)
    debts.paid(first)
    assert list(debts_of_the_dead()) == []
    assert list(owners_at_work()) == [OWNER]
    died(debts)
    assert [(left.owner, left.owed) for left in debts_of_the_dead()] == [(OWNER, (second,))]
    assert list(owners_at_work()) == []


def test_a_line_that_was_cut_short_was_not_done_yet(home: Path) -> None:
    """The rest is read."""
    debts = Debts.begin(OWNER)
    whole = TopicOwed("x-1", (), ())
    debts.owe(whole)
    died(debts)
    with debts.path.open("ab") as file:
        file.write(msgspec.json.encode(TopicOwed("x-2", (), ()))[:-9])
    assert [left.owed for left in debts_of_the_dead()] == [(whole,)]


def test_what_is_written_after_a_line_that_was_cut_short_is_read(home: Path) -> None:
    """It does not become part of that line, which would leave owed for ever what has been paid."""
    debts = Debts.begin(OWNER)
    first, second = TopicOwed("x-1", (), ()), TopicOwed("x-2", (), ())
    debts.owe(first)
    debts.owe(second)
    died(debts)
    with debts.path.open("ab") as file:
        file.write(b'{"type":"topic","na')
    (left,) = debts_of_the_dead()
    again = taken_over(left.path, wait=False)
    assert again is not None
    again.paid(first)
    died(again)
    assert [left.owed for left in debts_of_the_dead()] == [(second,)]


@pytest.mark.parametrize("damage", [b"\0\0\0\0", b"", b'{"type":"owner"}\n', b"\xff\n", b"x\n" * 3])
def test_what_cannot_be_read_is_never_taken_for_nothing(home: Path, damage: bytes) -> None:
    """One sentence says which file, and it stays."""
    home.mkdir()
    (home / "b.ndjson").write_bytes(damage)
    said: list[object] = []
    with pytest.raises(ClusterError, match=r"a readable undo log .*b\.ndjson") as raised:
        clean(said.append)
    assert raised.value.exit_code == 69
    assert said == []
    assert (home / "b.ndjson").read_bytes() == damage


def test_zeros_after_what_was_owed_leave_it_owed(home: Path) -> None:
    """A power cut; whether a lost line had struck it out nobody knows."""
    debts = Debts.begin(OWNER)
    debts.owe(TopicOwed("x-1", (), ()))
    died(debts)
    with debts.path.open("ab") as file:
        file.write(bytes(64))
    with pytest.raises(ClusterError, match="line 3 cannot be read"):
        clean(lambda _: None)
    assert debts.path.exists()


def test_a_folder_in_the_place_of_a_log_does_not_hide_the_others(home: Path) -> None:
    """What can be cleaned is."""
    (home / "a.ndjson").mkdir(parents=True)
    died(Debts.begin(OWNER))
    with pytest.raises(ClusterError, match="Is a directory"):
        clean(lambda _: None)
    assert [path.name for path in home.iterdir()] == ["a.ndjson"]


def test_a_file_with_nothing_owed_does_not_stay(home: Path) -> None:
    """Neither that of a run that ends, nor that of one that was killed before it did anything."""
    Debts.begin(OWNER).close()
    assert not list(home.iterdir())
    died(Debts.begin(OWNER))
    assert [left.owed for left in debts_of_the_dead()] == [()]
    assert not list(home.iterdir())


def test_only_its_user_can_read_what_is_owed(home: Path) -> None:
    """It holds commands."""
    debts = Debts.begin(OWNER)
    assert debts.path.stat().st_mode & 0o777 == 0o600
    debts.close()


def test_clean_pays_and_says_what(owned: Owned, home: Path) -> None:
    """A paused broker first, for it could not delete a topic; that of others stays."""
    for broker in owned.brokers.values():
        broker.topics |= {f"{PREFIX}-left": 4, f"{PREFIX}-of-another-run": 4}
    flag = owned.brokers["mq-blue"].flag
    flag.touch()
    debts = Debts.begin(OWNER)
    debts.owe(topic(owned, f"{PREFIX}-left"))
    debts.owe(resume(owned, f"rm {flag}"))
    died(debts)
    said: list[str] = []
    clean(said.append)
    assert said == ["cluster unit: resume mq-blue: done", f"cluster unit: topic {PREFIX}-left: done"]
    assert owned.topics == {f"{PREFIX}-of-another-run"}
    said.clear()
    clean(said.append)
    assert said == ["nothing is owed to any cluster"]


def test_what_cannot_be_cleaned_is_said_and_stays_owed(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One server that does not answer keeps none of the others from being cleaned."""
    monkeypatch.setattr("rocketdiff.cluster.external.settling._BETWEEN_TRIES_S", 0.0)
    for broker in owned.brokers.values():
        broker.topics[f"{PREFIX}-left"] = 4
    owned.brokers["mq-red"].refuse()
    debts = Debts.begin(OWNER)
    debts.owe(topic(owned, f"{PREFIX}-left"))
    died(debts)
    with pytest.raises(ClusterError, match=f"topic {PREFIX}-left is left over: {owned.brokers['mq-red'].address}"):
        clean(lambda _: None)
    assert not owned.brokers["mq-blue"].topics
    assert len(list(home.iterdir())) == 1


def test_clean_leaves_a_living_run_alone(home: Path) -> None:
    """And says that there is one."""
    debts = Debts.begin(OWNER)
    debts.owe(TopicOwed("x", (), ()))
    said: list[str] = []
    clean(said.append)
    assert "a run is at work there (runs/x)" in said[0]
    assert debts.owed
    died(debts)


def test_kill_9_of_a_run_resumes_its_broker_and_deletes_its_topics(owned: Owned, home: Path) -> None:
    """The guardian does, within seconds and without being asked; Ctrl-C at the terminal does not reach it."""
    flag = owned.brokers["mq-blue"].flag
    run = run_of(owned, home, owned.described())
    assert run.stdout is not None
    assert run.stdout.readline() == "paused\n"
    assert flag.exists()
    assert owned.topics
    run.kill()
    all_paid(run, home)
    assert not flag.exists()
    assert not owned.topics


def test_the_guardian_is_not_reached_by_signals_and_ends_when_it_is_let_go(home: Path) -> None:
    """Nothing of a run that ended well lives on."""
    debts = Debts.begin(OWNER)
    guard = Guard(debts.path)
    time.sleep(0.5)
    assert os.getsid(guard.pid) != os.getsid(0)
    guard.close()
    guard.close()
    with pytest.raises(ProcessLookupError):
        os.kill(guard.pid, signal.SIG_DFL)
    debts.close()
    assert module.home() == home
