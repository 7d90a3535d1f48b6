"""A deterministic imitation of two releases under a pause, for the sample run."""

from dataclasses import dataclass, field

from rocketdiff.core.answers.plots import LaneAttempt

PAUSE_MS, RESUME_MS, TIMEOUT_MS, END_MS = 3_000.0, 5_000.0, 500.0, 9_000.0


@dataclass
class Imitation:
    """One arm: rotation, avoidance after a failure, and a retry that stays (old) or moves (new)."""

    arm: str
    brokers: tuple[str, ...]
    avoid_ms: float
    sticky: bool
    index: int
    attempts: list[LaneAttempt] = field(default_factory=list)
    avoided: dict[str, float] = field(default_factory=dict)

    def run(self) -> list[LaneAttempt]:
        now = 0.0
        for send in range(int(END_MS / 20)):
            now = self.send(send, max(now, send * 20.0))
        return self.attempts

    def send(self, send: int, now: float) -> float:
        last = ""
        for attempt in range(3):
            broker, queue = self.choose(now, last if attempt else "")
            paused = broker == "broker-b" and PAUSE_MS <= now < RESUME_MS
            end = min(now + TIMEOUT_MS, RESUME_MS + 3) if paused else now + 0.8 + (send % 7) * 0.21
            failed = end - now >= TIMEOUT_MS
            outcome, reason = ("unknown", "timeout") if failed else ("ok", "none")
            self.attempts.append(
                LaneAttempt(self.arm, 0, send, attempt, broker, queue, round(now, 3), round(end, 3), outcome, reason)
            )
            now = end
            if not failed:
                break
            self.avoided[broker], last = now + self.avoid_ms, broker
        return now

    def choose(self, now: float, last: str) -> tuple[str, int]:
        queues = [(broker, queue) for broker in self.brokers for queue in range(4)]
        for _ in queues:
            self.index += 1
            broker, queue = queues[self.index % len(queues)]
            stays = self.sticky and last
            if (stays and broker == last) or (not stays and self.avoided.get(broker, 0.0) <= now and broker != last):
                return broker, queue
        return queues[self.index % len(queues)]


def arms(brokers: int) -> tuple[list[LaneAttempt], list[LaneAttempt]]:
    names = tuple(f"broker-{letter}" for letter in "abc"[:brokers])
    old = Imitation("baseline", names, 600_000.0, True, 3).run()
    return old, Imitation("candidate", names, 10_000.0, False, 5).run()


def phase_of(attempt: LaneAttempt) -> str:
    if attempt.start_ms < PAUSE_MS:
        return "calm"
    return "paused" if attempt.start_ms < RESUME_MS else "after"
