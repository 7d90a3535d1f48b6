"""
Executes scripts on many releases, with a cache of answer digests.

Only digests are cached, because few answers are ever read. An answer that is needed comes from the golden data with the same
digest, or from another execution.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rocketdiff.lab.history.digest_store import DigestStore
from rocketdiff.simulation.golden.answers import Lines, Runner, digest_of
from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.script import NamedScript, canonical, depth_of
from rocketdiff.simulation.virtual import dialect_for, run_reference

_KEPT_AT_ONCE = 500
"""Digests per write to the store, and so the most that an interruption loses."""


@dataclass(frozen=True, slots=True)
class Executions:
    """
    Answers of releases to scripts.

    fingerprint: digest of a release's inputs besides the script (artifacts, host sources). remembered: golden answers by
    digest. on_progress: called with (done, all) during execution.
    """

    runner: Runner
    store: DigestStore
    fingerprint: Callable[[str], str]
    remembered: Mapping[str, Lines] = field(default_factory=dict)
    on_progress: Callable[[int, int], None] = lambda _done, _all: None

    def digests(self, releases: Sequence[str], scripts: Sequence[NamedScript]) -> Mapping[tuple[str, str], str]:
        keys = self._keys((release, script) for script in scripts for release in releases)
        known = self.store.read(keys.values())
        jobs = [
            Job(release, script.name, script.script)
            for script in scripts
            for release in releases
            if keys[release, script.name] not in known
        ]
        fresh: dict[str, str] = {}
        for done, (job, lines) in enumerate(self.runner.run_all(jobs), start=1):
            fresh[keys[job.release, job.name]] = digest_of(lines)
            if done % _KEPT_AT_ONCE == 0 or done == len(jobs):
                self.on_progress(done, len(jobs))
                self.store.write(fresh)
                known.update(fresh)
                fresh.clear()
        return {pair: known[key] for pair, key in keys.items()}

    def lines(self, wanted: Iterable[tuple[str, NamedScript]]) -> Mapping[tuple[str, str], Lines]:
        """The answers, by (release, script name): golden ones if the digest is known, else executed."""
        pairs = {(release, script.name): (release, script) for release, script in wanted}
        keys = self._keys(pairs.values())
        digests = self.store.read(keys.values())
        found = {pair: self.remembered.get(digests.get(key, "")) for pair, key in keys.items()}
        jobs = [
            Job(release, script.name, script.script) for pair, (release, script) in pairs.items() if found[pair] is None
        ]
        executed = {(job.release, job.name): tuple(lines) for job, lines in self.runner.run_all(jobs)}
        return {pair: lines for pair, lines in found.items() if lines is not None} | executed

    def _keys(self, pairs: Iterable[tuple[str, NamedScript]]) -> dict[tuple[str, str], str]:
        texts: dict[str, str] = {}
        keys: dict[tuple[str, str], str] = {}
        for release, script in pairs:
            if script.name not in texts:
                # The depth is part of the key: for a script without one, it depends on the code of depth_of.
                texts[script.name] = f"{depth_of(script.script)}\0{canonical(script.script)}"
            parts = (self.fingerprint(release), script.name, texts[script.name])
            keys[release, script.name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return keys


class ReferenceRunner:
    """Runs jobs on the reference in this process."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        for job in jobs:
            yield job, run_reference(dialect_for(job.script, job.release), job.name, job.script, trace=job.trace)
