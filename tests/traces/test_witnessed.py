"""The wire witness replaces what a client does not report; literal journals in, a journal out."""

from pathlib import Path
from typing import Any

from rocketdiff.traces.journal import read_witnessed_journal
from tests.traces.conftest import ORIGIN_NS, attempt, line, send

ROUTES = [
    line("route", route=1, at_ns=ORIGIN_NS + 500_000, queues=[["broker-a", 0]]),
    line("route", route=2, at_ns=ORIGIN_NS + 1_500_000, queues=[["broker-a", 0], ["broker-a", 1]]),
]


def put(file: Path, *lines: bytes) -> Path:
    file.write_bytes(b"".join(one + b"\n" for one in lines))
    return file


def test_a_silent_client_takes_what_the_wire_saw(tmp_path: Path) -> None:
    """A client without attempts gets the attempts, routes and route numbers of the wire."""
    reported = put(tmp_path / "told", send(0, route=0, route_after=0), send(1, route=0, route_after=0))
    copies = (send(0, route=1, route_after=2, error="MadeUp"), send(1, route=-1, route_after=2))
    seen = put(tmp_path / "seen", *ROUTES, attempt(0), attempt(1), *copies)
    journal = read_witnessed_journal(reported, seen)
    assert (journal.witness, len(journal.attempts), len(journal.routes)) == ("wire", 2, 2)
    assert [(one.route, one.route_after, one.error) for one in journal.sends] == [(1, 2, None), (-1, 2, None)]
    assert journal.troubles == []


def test_a_client_that_reports_attempts_is_its_own_witness(tmp_path: Path) -> None:
    """A client that reports attempts is its own witness; a further one on the wire is a trouble."""
    reported = put(tmp_path / "told", attempt(0, broker="broker-b"), send(0))
    seen = put(tmp_path / "seen", *ROUTES, attempt(0), attempt(0, broker="broker-b"))
    journal = read_witnessed_journal(reported, seen)
    assert (journal.witness, [one.broker for one in journal.attempts], journal.routes) == ("client", ["broker-b"], [])
    assert journal.troubles == [
        "send 0 in thread 0: a request for queue 0 of broker-a was on the wire but not reported by the client"
    ]


def test_a_client_that_hides_claimed_attempts_is_its_own_witness(tmp_path: Path) -> None:
    """A client that declares attempts but reports none is its own witness: hidden attempts are troubles."""
    hello = line("hello", protocol=1, client="java", version="1", capabilities=["attempts"], pid=1, clock_ns=1)
    reported = put(tmp_path / "told", hello, ROUTES[0], send(0))
    journal = read_witnessed_journal(reported, put(tmp_path / "seen", attempt(0)))
    assert (journal.witness, journal.attempts, len(journal.routes), len(journal.troubles)) == ("client", [], 1, 1)


def test_the_wires_status_replaces_the_reported_one(tmp_path: Path) -> None:
    """The wire's status replaces the reported one, but not of a failed attempt or of another broker's."""
    reported = put(
        tmp_path / "told",
        *(attempt(number, status="SEND_OK") for number in (0, 1)),
        attempt(2, error="RemotingTimeoutException"),
        attempt(3, status="SEND_OK"),
    )
    reserved: dict[str, Any] = {"status": "FLUSH_DISK_TIMEOUT"}
    seen = put(tmp_path / "seen", attempt(1, **reserved), attempt(2, **reserved), attempt(3, broker="b", **reserved))
    journal = read_witnessed_journal(reported, seen)
    assert [one.status for one in journal.attempts] == ["SEND_OK", "FLUSH_DISK_TIMEOUT", None, "SEND_OK"]
    assert journal.witness == "client"


def test_without_a_wire_nothing_is_made_up(tmp_path: Path) -> None:
    """Without a wire journal there is no witness but the client."""
    journal = read_witnessed_journal(put(tmp_path / "told", send(0)), tmp_path / "none")
    assert (journal.witness, journal.attempts) == ("client", [])


def test_attempts_reported_by_starts_come_whole_from_the_wire(tmp_path: Path) -> None:
    """A client that reports only starts gets the whole attempts from the wire."""
    hello = line("hello", protocol=1, client="go", version="1", capabilities=["attempt-starts"], pid=1, clock_ns=1)
    begun = line("attempt", send=0, thread=0, attempt=0, broker="broker-a", queue_id=0, start_ns=ORIGIN_NS)
    reported = put(tmp_path / "told", hello, begun, send(0))
    seen = put(tmp_path / "seen", *ROUTES, attempt(0, status="SEND_OK"))
    journal = read_witnessed_journal(reported, seen)
    assert (journal.witness, [one.status for one in journal.attempts]) == ("wire", ["SEND_OK"])
    assert read_witnessed_journal(reported, tmp_path / "none").attempts == []
