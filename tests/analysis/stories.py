"""Scenarios of all send modes with a pause, and changes of a client's records."""

from collections.abc import Callable
from dataclasses import replace

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Pause, Stored
from tests.analysis.synthetic_modes import ModeStory, carrying

EXACT = ("queue-choice", "attempts", "error-kind", "loss", "duplication", "content")
LATENCY = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500)
ASYNC = ModeStory(mode=SendMode.ASYNC, checks=(*EXACT, "callbacks"), keys="k")
ASYNC_WITH_LATENCY = replace(
    ASYNC, settings=LATENCY, checks=("attempts", "error-kind", "loss", "duplication", "callbacks")
)
ONEWAY = ModeStory(mode=SendMode.ONEWAY, pauses=(Pause("broker-b", 2_500, 3_000),), checks=EXACT, keys="k")
TO_QUEUE = ModeStory(kind=SendKind.QUEUE, checks=(*EXACT, "order"), keys="k")
DELAYED = ModeStory(delay_level=1, checks=(*EXACT, "delay"), keys="k")
PLAIN = ModeStory(checks=EXACT, keys="k")
CALM = replace(PLAIN, name="round-robin/calm", pauses=(), checks=(*PLAIN.checks, "outcomes"))
BESIDE_A_PAUSE = replace(PLAIN, checks=(*PLAIN.checks, "outcomes"))

HEALTHY, PAUSED = "broker-a", "broker-b"


def sends_to(records: ArmRecords, broker: str, story: ModeStory) -> list[int]:
    """Sends in the middle of the pause whose first attempt went to this broker."""
    (pause,) = story.pauses
    from_ns, to_ns = ORIGIN_NS + (pause.at_ms + 400) * MS, ORIGIN_NS + (pause.at_ms + pause.for_ms - 1_200) * MS
    first = {attempt.send: attempt.broker for attempt in records.attempts if attempt.attempt == 0}
    return [send.send for send in records.sends if from_ns < send.start_ns < to_ns and first[send.send] == broker]


def change_send(records: ArmRecords, number: int, change: Callable[[Send], Send]) -> None:
    records.sends = [change(send) if send.send == number else send for send in records.sends]


def change_copies(records: ArmRecords, number: int, change: Callable[[Stored], Stored | None]) -> None:
    changed = [change(message) if message.send == number else message for message in records.stored]
    records.stored = [one for one in changed if one is not None]


def go_elsewhere(records: ArmRecords, number: int, after_ns: int = MS) -> None:
    """Add an immediate further attempt on the healthy broker, which stores it."""
    place, last = next((n, one) for n, one in enumerate(records.attempts) if one.send == number)
    start_ns = last.end_ns + 10_000
    more = replace(
        last,
        attempt=1,
        broker=HEALTHY,
        start_ns=start_ns,
        end_ns=start_ns + after_ns,
        error=None,
        status=last.status and "SEND_OK",
    )
    records.attempts.insert(place + 1, more)
    like = next(
        (message for message in records.stored if message.send == number), Stored(HEALTHY, last.queue_id, 9_000, number)
    )
    records.stored.append(carrying(replace(like, broker=HEALTHY, queue_id=last.queue_id, queue_offset=9_000), "k"))
