"""Commands to a Python subject and its records."""

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Send
from rocketdiff.core.records.session import Done, Ready, SubjectFailed
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.drivers.python.sending.client import Client
from rocketdiff.drivers.python.sending.runner import as_producer
from rocketdiff.drivers.python.session import Session, obey
from rocketdiff.protocol.commands import STOP, SubjectSetup, encode_go, encode_plan, encode_setup, encode_stop
from tests.drivers.python.willing import Willing
from tests.subjects.conftest import plan_of

SETUP = encode_setup(SubjectSetup(("127.0.0.1:1",), "T", "W", "G", "R", ClientSettings()), 2)


@dataclass
class Heard:
    """Records, and a wait for one of a kind."""

    records: list[Record] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def speak(self, record: Record) -> None:
        with self.changed:
            self.records.append(record)
            self.changed.notify_all()

    def await_kind(self, kind: type[Record]) -> Any:
        with self.changed:
            assert self.changed.wait_for(lambda: any(isinstance(each, kind) for each in self.records), 10)
        return next(each for each in self.records if isinstance(each, kind))


def session_of(heard: Heard, client: Client | None = None) -> Session:
    """A session of one client, by default a willing one."""
    return Session(as_producer(lambda _setup, _speak: client or Willing()), heard.speak)


def test_a_session_goes_from_plan_to_done() -> None:
    """A session goes from plan and setup to ready, go, sends and done."""
    heard = Heard()
    session = session_of(heard)
    obey([*encode_plan(plan_of(0, 1, 0)), SETUP], session)
    heard.await_kind(Ready)
    obey([encode_go(0)], session)
    assert heard.await_kind(Done) == Done(3)
    sent = [(record.thread, record.send) for record in heard.records if isinstance(record, Send)]
    assert sorted(sent) == [(0, 0), (0, 2), (1, 1)]


def test_stop_ends_the_commands() -> None:
    """Commands after stop are not read; only a stop with a limit gives the client time to end."""
    for stop, has_time in ((STOP, False), (encode_stop(5), True)):
        commands = iter([stop, b"no command at all"])
        assert obey(commands, session_of(Heard())) is has_time
        assert list(commands) == [b"no command at all"]
    assert obey([], session_of(Heard())) is False


def test_go_before_ready_is_refused() -> None:
    """Go before ready is refused."""
    with pytest.raises(ValueError, match="one go, after ready"):
        obey([encode_go(0)], session_of(Heard()))


def test_a_plan_after_setup_is_refused() -> None:
    """A plan after setup is refused: setup completes the plan."""
    heard = Heard()
    with pytest.raises(ValueError, match="before setup"):
        obey([SETUP, *encode_plan(plan_of(0))], session_of(heard))
    heard.await_kind(Ready)


def test_a_role_that_a_driver_lacks_is_refused() -> None:
    """A setup of a role without a runner is refused; the driver then ends with failed."""
    with pytest.raises(ValueError, match="expected a role of this driver"):
        obey([SETUP], Session({}, Heard().speak))


def test_a_setup_may_name_the_producer() -> None:
    """A setup with the role producer is a setup without a role."""
    heard = Heard()
    obey([SETUP[:-2] + b',"role":"producer"}\n'], session_of(heard))
    assert isinstance(heard.await_kind(Ready), Ready)


def test_a_client_that_cannot_prepare_reports_stage_and_reason(capfd: pytest.CaptureFixture[str]) -> None:
    """A client that cannot prepare reports stage and reason."""
    heard = Heard()
    obey([SETUP], session_of(heard, Willing("no cluster")))
    assert heard.await_kind(SubjectFailed) == SubjectFailed("setup", "OSError: no cluster")
    assert "Traceback" in capfd.readouterr().err
