"""
Scripts executed by many releases, each pair once: what came out before is remembered in the cache by digest.

The digest of an answer is remembered, not its lines: those are for the few answers somebody wants to read. They are
executed again, or are those of the golden answer that has the digest.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rocketdiff.lab.history.digest_store import DigestStore
from rocketdiff.simulation.golden.answers import Lines, Runner, digest_of
from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.script import NamedScript, canonical, depth_of

_KEPT_AT_ONCE = 500
"""Digests between two writes of the store: what an interruption costs."""


@dataclass(frozen=True, slots=True)
class Executions:
    """
    Answers of releases to scripts.

    fingerprint: what, besides the script, decides an answer of a release (its artifacts, the host's sources). remembered:
    answers by their digest, the golden ones. told: is called with (done, all) now and then while scripts are executed.
    """

    runner: Runner
    store: DigestStore
    fingerprint: Callable[[str], str]
    remembered: Mapping[str, Lines] = field(default_factory=dict)
    told: Callable[[int, int], None] = lambda _done, _all: None

    def digests(self, releases: Sequence[str], scripts: Sequence[NamedScript]) -> Mapping[tuple[str, str], str]:
        """Digest of the answer of each release to each script, by (release, name)."""
        keys = self._keys((release, one) for one in scripts for release in releases)
        known = self.store.read(keys.values())
        jobs = [
            Job(release, one.name, one.script)
            for one in scripts
            for release in releases
            if keys[release, one.name] not in known
        ]
        fresh: dict[str, str] = {}
        for done, (job, lines) in enumerate(self.runner.run_all(jobs), start=1):
            fresh[keys[job.release, job.name]] = digest_of(lines)
            if done % _KEPT_AT_ONCE == 0 or done == len(jobs):
                self.told(done, len(jobs))
                self.store.write(fresh)
                known.update(fresh)
                fresh.clear()
        return {pair: known[key] for pair, key in keys.items()}

    def lines(self, wanted: Iterable[tuple[str, NamedScript]]) -> Mapping[tuple[str, str], Lines]:
        """The answers themselves, by (release, name): executed, unless the digest is known to be that of a remembered one."""
        pairs = {(release, one.name): (release, one) for release, one in wanted}
        keys = self._keys(pairs.values())
        digests = self.store.read(keys.values())
        found = {pair: self.remembered.get(digests.get(key, "")) for pair, key in keys.items()}
        jobs = [Job(release, one.name, one.script) for pair, (release, one) in pairs.items() if found[pair] is None]
        executed = {(job.release, job.name): tuple(lines) for job, lines in self.runner.run_all(jobs)}
        return {pair: lines for pair, lines in found.items() if lines is not None} | executed

    def _keys(self, pairs: Iterable[tuple[str, NamedScript]]) -> dict[tuple[str, str], str]:
        """Where the digest of each pair's answer is kept; a script is written out once for all releases."""
        texts: dict[str, str] = {}
        keys: dict[tuple[str, str], str] = {}
        for release, one in pairs:
            if one.name not in texts:
                # A script that leaves its depth open is run at the least, which the steps decide today.
                texts[one.name] = f"{depth_of(one.script)}\0{canonical(one.script)}"
            parts = (self.fingerprint(release), one.name, texts[one.name])
            keys[release, one.name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return keys
