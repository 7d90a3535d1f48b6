"""Random scripts at depth consumer: a lite pull consumer whose application polls, commits, seeks and pauses queues."""

from typing import Any

from rocketdiff.simulation.generators.consuming.membership import MOST_QUEUES, MS, OWN, Membership, Step

_POLL_MS = (0, 1, 500, 1_000, 5_000)


class Polling(Membership):
    """Generator of one script."""

    def script(self) -> dict[str, Any]:
        rng = self.rng
        queues = {name: rng.between(1, MOST_QUEUES) for name in self.names}
        steps: list[Step] = [{"do": "members", "ids": [OWN]}]
        steps += self.offsets(queues)
        steps += [self.suggest() for _ in self.slaves]
        steps += [self.store() for _ in range(rng.between(0, 2))]
        joins: Step = {"do": "consumer", "polls": True, "tags": "red || blue" if rng.chance(0.1) else "*"}
        joins["model"] = "broadcasting" if rng.chance(0.15) else "clustering"
        joins["hook"] = rng.chance(0.1)
        is_assigned = rng.chance(0.4)
        steps.append({**joins, "assign": self.queues() or [self.any_queue()]} if is_assigned else joins)
        weights = {
            self.store: 5,
            self.poll: 8,
            self.members: 1,
            self.notify: rng.pick((0, 1)),
            self.reset: rng.pick((0, 0, 0, 1)),
            self.fault: rng.pick((0, 1, 3)),
            self.refuse: rng.pick((0, 1)),
            self.suggest: 1 if self.slaves else 0,
            self.seek: rng.pick((0, 2)),
            self.pause_queue: rng.pick((1, 3)),
            self.assign: 4 if is_assigned else rng.pick((0, 0, 0, 1)),
            self.answers: rng.pick((0, 0, 1)),
            self.commit: 1,
            self.dump: 1,
        }
        steps.append({"do": "rounds", "ms": rng.number(MS, 35_000)})
        for _ in range(rng.between(3, 7)):
            steps += [rng.weighted(weights)() for _ in range(rng.between(0, 4))]
            steps.append({"do": "rounds", "ms": rng.number(MS, 35_000)})
        if self.is_calm and rng.chance(0.3):
            steps += [{"do": "leave"}, {"do": "rounds", "ms": 1_000}]
            if rng.chance(0.5):
                again = {**joins, "assign": self.queues() or [self.any_queue()]} if is_assigned else joins
                steps += [self.store(), again, {"do": "rounds", "ms": rng.number(MS, 35_000)}, self.poll()]
        return {"route": self.route(queues), "seed": rng.between(0, 2**31), "steps": steps}

    def poll(self) -> Step:
        return {"do": "poll", "ms": self.rng.pick(_POLL_MS)}

    def seek(self) -> Step:
        to = self.rng.weighted({"offset": 3, "begin": 1, "end": 1})
        return {"do": "seek", **self.queue(), **({"offset": self.rng.between(0, 4)} if to == "offset" else {"to": to})}

    def pause_queue(self) -> Step:
        return {"do": self.rng.pick(("pause_queue", "resume_queue")), **self.queue()}

    def assign(self) -> Step:
        return {"do": "assign", "queues": self.queues()}

    def queues(self) -> list[Step]:
        """Some queues, which need not exist."""
        known = [{"broker": name, "queue_id": queue} for name in self.names for queue in range(MOST_QUEUES)]
        return self.rng.some(known, self.rng.weighted({0: 1, 1: 10, 2: 6, 3: 2}))

    def any_queue(self) -> Step:
        return {"broker": self.rng.pick(self.names), "queue_id": 0}

    def commit(self) -> Step:
        return {"do": "commit_polled", "queues": self.queues()} if self.rng.chance(0.3) else {"do": "commit_polled"}
