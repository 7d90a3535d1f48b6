"""Random scripts at depth consumer: a push consumer whose brokers store, pause and restart while its group changes."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.topics import broker_names

_OTHERS = ("A", "zz", "own ")
OWN = "own"
MS = (1, 500, 1_000, 1_500, 3_000, 5_000, 10_000, 15_000, 20_000, 31_000)
MOST_QUEUES = 2
_ASKED = ("query", "max", "pull", "pull", "back", "lock")
_TAGS = ("red", "green", "blue")
_ENDS = {"later": 6, "throw": 2, "none": 1, "success": 1}
_LEVELS = (-1, 0, 1, 5, 300)
_ANSWERS = (0, 0, 1, 300, 2_000, "timeout", "silent")
_WORKS_MS = (1, 500, 4_000, 30_000)
_CODES = ("SYSTEM_ERROR", "SYSTEM_BUSY", "FLOW_CONTROL", "SUBSCRIPTION_NOT_EXIST")

Step = dict[str, Any]


class Membership:
    """Generator of one script; its state are the brokers, and which of them are paused or dead, or do not answer at once."""

    def __init__(self, rng: RandomSource) -> None:
        self.rng = rng
        self.names = broker_names(rng, most=2)
        self.slaves = {f"slave-of-{name}": name for name in self.names if rng.chance(0.08)}
        self.servers = (*self.names, *self.slaves)
        self.down: dict[str, str] = {}
        self.slow: set[str] = set()

    def script(self) -> dict[str, Any]:
        rng = self.rng
        queues = {name: rng.between(1, MOST_QUEUES) for name in self.names}
        steps: list[Step] = [{"do": "members", "ids": [OWN]}]
        steps += self.offsets(queues)
        steps += [self.suggest() for _ in self.slaves]
        steps += [self.store() for _ in range(rng.between(0, 2))]
        is_single = len(self.servers) == 1  # the queue of a failed message is not drawn
        steps += [{"do": "retry_topic"}] if is_single and rng.chance(0.3) else []
        rules = [self.rule()] if rng.chance(0.4) else []
        steps += [self.refuse()] if rng.chance(0.2) else []
        listener = rng.pick(("concurrent", "concurrent", "orderly"))
        joins: Step = {"do": "consumer", "rules": rules, "unknown_topic": rng.chance(0.1), "listener": listener}
        joins["model"] = "broadcasting" if rng.chance(0.1) else "clustering"
        if rng.chance(0.2):
            joins["max_reconsume_times"] = rng.between(0, 3)
        joins["tags"] = "red || blue" if rng.chance(0.1) else "*"
        steps.append(joins)
        weights = {
            self.store: 5,
            self.members: 2,
            self.notify: rng.pick((0, 0, 1)),
            self.reset: rng.pick((0, 0, 1)),
            **self.disturbances(),
            self.refuse: rng.pick((0, 1)),
            self.suggest: 1 if self.slaves else 0,
            self.lock_holder: 1 if listener == "orderly" else 0,
            self.dump: 1,
        }
        for _ in range(rng.between(3, 7)):
            steps += [rng.weighted(weights)() for _ in range(rng.between(0, 3))]
            steps.append({"do": "rounds", "ms": rng.number(MS, 35_000)})
        works = any(
            "works_ms" in rule for rule in rules
        )  # a call under way at the end is interrupted, which listeners answer as they like
        if self.is_calm and not works and rng.chance(0.3):
            steps += [{"do": "leave"}, {"do": "rounds", "ms": 1_000}]
            if rng.chance(0.5):
                steps += [self.store(), joins, {"do": "rounds", "ms": rng.number(MS, 35_000)}]
        return {"route": self.route(queues), "seed": rng.between(0, 2**31), "steps": steps}

    @property
    def is_calm(self) -> bool:
        """True if a shutdown waits for nothing: two threads that are woken at once have no order that both hosts share."""
        return not self.down and not self.slow

    def disturbances(self) -> dict[Any, int]:
        """What brokers do, or a hook: it fails before it is known whether there is a connection, in the reference alone."""
        rng = self.rng
        if rng.chance(0.1):
            return {self.hook_fails: 1}
        return {self.fault: rng.pick((0, 1, 3)), self.answers: rng.pick((0, 0, 1))}

    def hook_fails(self) -> Step:
        return {"do": "hook_fails", "asked": self.rng.pick(("pull", "query", "lock"))}

    def route(self, queues: dict[str, int]) -> dict[str, Any]:
        """Some brokers have a slave, of any of the first ids."""
        slaves = {name: {slave: self.rng.between(1, 2)} for slave, name in self.slaves.items()}
        return {name: {"queues": n, "slaves": slaves[name]} if name in slaves else n for name, n in queues.items()}

    def suggest(self) -> Step:
        """Let a broker suggest its master or a slave, which need not exist."""
        return {"do": "suggest", "broker": self.rng.pick(self.servers), "id": self.rng.between(0, 2)}

    def offsets(self, queues: dict[str, int]) -> list[Step]:
        """What brokers know of the group before."""
        rng = self.rng
        of = [(name, queue) for name, count in queues.items() for queue in range(count) if rng.chance(0.8)]
        return [
            {"do": "offset", "broker": name, "queue": queue, "offset": rng.weighted({0: 8, 2: 1, 40: 1})}
            for name, queue in of
        ]

    def store(self) -> Step:
        rng = self.rng
        stored = {
            "do": "store",
            **self.queue(),
            "broker": rng.pick(self.servers),
            "count": rng.between(1, 4),
            "bytes": 1 if rng.chance(0.97) else 0,
        }
        if rng.chance(0.1):
            stored["transactional"] = True
        return {**stored, "tag": rng.pick(_TAGS)} if rng.chance(0.1) else stored

    def rule(self) -> Step:
        """How some calls of the listener end."""
        rng = self.rng
        rule: Step = {"every": rng.between(1, 5), "offset": 0, "tries": rng.between(1, 3), "then": rng.weighted(_ENDS)}
        if rng.chance(0.2):
            rule["level"] = rng.pick(_LEVELS)
        if rng.chance(0.2):
            rule["works_ms"] = rng.pick(_WORKS_MS)
        return rule

    def notify(self) -> Step:
        """A broker reports that the ids have changed."""
        return {"do": "notify", "broker": self.rng.pick(self.names)}

    def reset(self) -> Step:
        """A broker asks for another offset of some of its queues."""
        rng = self.rng
        queues = rng.some(tuple(range(MOST_QUEUES)), rng.between(1, MOST_QUEUES))
        return {"do": "reset_offset", "broker": rng.pick(self.names), "queues": queues, "offset": rng.between(0, 5)}

    def members(self) -> Step:
        rng = self.rng
        ids = [*rng.some(_OTHERS, rng.between(0, 2)), *([OWN] if rng.chance(0.95) else [])]
        return {"do": "members", "ids": None if rng.chance(0.05) else rng.some(ids, len(ids))}

    def fault(self) -> Step:
        """Pause or kill a broker, or bring one back."""
        broker = self.rng.pick(self.servers)
        end = self.down.pop(broker, None)
        if end is None:
            fault, self.down[broker] = self.rng.pick((("pause", "resume"), ("kill", "restart")))
            return {"do": fault, "broker": broker}
        return {"do": end, "broker": broker}

    def answers(self) -> Step:
        """Let a broker answer late, swallow requests, or let connects hang, or answer at once again."""
        broker, answers = self.rng.pick(self.servers), self.rng.pick(_ANSWERS)
        (self.slow.add if answers else self.slow.discard)(broker)
        return {"do": "broker", "name": broker, "answers": answers}

    def refuse(self) -> Step:
        """Let a broker refuse a kind of request, or answer it again."""
        rng = self.rng
        code = rng.pick(_CODES) if rng.chance(0.6) else None
        return {"do": "refuse", "broker": rng.pick(self.names), "asked": rng.pick(_ASKED), "code": code}

    def lock_holder(self) -> Step:
        return {"do": "lock_holder", **self.queue(), "other": self.rng.chance(0.5)}

    def dump(self) -> Step:
        return {"do": "dump", "parts": ["owned"]}

    def queue(self) -> Step:
        return {"broker": self.rng.pick(self.names), "queue": self.rng.between(0, MOST_QUEUES - 1)}
