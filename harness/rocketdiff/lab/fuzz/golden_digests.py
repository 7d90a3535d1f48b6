"""
Golden digests of the real classes' answers to random scripts; the answers themselves are too large to store.

``python -m rocketdiff.lab.fuzz.golden_digests`` executes all releases and writes the file. ``--check`` writes nothing. Exit
code 1 if anything changed. Answers are traced, so that a digest covers counters, publish list and fault table after each
step.
"""

import argparse
import json
import string
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.lab.fuzz.differences import FuzzHost
from rocketdiff.lab.fuzz.lockstep import name_of, script_of
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.fingerprints import artifacts_fingerprint, java_host_fingerprint
from rocketdiff.simulation.java_host import Finished, JavaHost, Job
from rocketdiff.simulation.script import Depth, Script, canonical, parse_script

GOLDEN_DIGESTS = "fixtures/simulation/golden/fuzz/digests.json"

SCRIPTS_OF: Mapping[Depth, int] = {
    Depth.SELECTION: 48,
    Depth.SEND_LOOP: 48,
    Depth.REMOTING: 60,
    Depth.ALLOCATION: 40,
    Depth.PROCESS_QUEUE: 24,
    Depth.REBALANCE: 40,
    Depth.CONSUMER: 8,
}
"""Number of scripts: few mutants of the rules survive (``make mutants``), and a check takes seconds."""

ONCE_APART = (
    "fuzz-remoting-263",
    "fuzz-remoting-280",
    "fuzz-remoting-21000064",
    "fuzz-remoting-21000238",
    "fuzz-send-loop-21000090",
)
"""
Regression scripts of subtle errors in the reference: which thread wakes when connections end (263); which thread continues
when a late timer looks for its thread (280); rounds for consumers that wake the client's timer (21000064); a response
without a header matched to another request (21000238); the empty publish list with its own counters that a first send
without a route leaves (21000090).
"""

_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_DIGITS = 16
"""Hexadecimal digits of sha256: 64 bits, enough against chance collisions."""


@dataclass(frozen=True, slots=True)
class GoldenScript:
    """A random script's name and digest, and the digest of each release's answer."""

    name: str
    script_digest: str
    answers: Mapping[str, str]

    @property
    def depth(self) -> Depth:
        return Depth(self.name.removeprefix("fuzz-").rpartition("-")[0])

    def script(self) -> Script:
        """Generate the script again; HarnessError if the generators have changed it."""
        script = parse_script(script_of(self.name), self.name)
        if digest_of_script(script) != self.script_digest:
            hint = "the generators changed: python -m rocketdiff.lab.fuzz.golden_digests"
            raise HarnessError(
                f"the script {self.name} that the golden digests were made with", seen="another", hint=hint
            )
        return script


def load_golden_digests(file: Path | None = None) -> tuple[GoldenScript, ...]:
    """Read the committed digests."""
    data = json.loads((file or resource(GOLDEN_DIGESTS)).read_text(encoding="utf-8"))
    releases = list(data["releases"])
    return tuple(
        GoldenScript(
            name,
            entry["script"],
            {r: entry["answers"][letter] for r, letter in zip(releases, entry["pattern"], strict=True)},
        )
        for name, entry in data["scripts"].items()
    )


def execute(host: FuzzHost, releases: Sequence[str], names: Iterable[str]) -> Iterator[GoldenScript]:
    """Run the scripts on every release and yield the digests; raises a release's error."""
    scripts = {name: parse_script(script_of(name), name) for name in names}
    jobs = (Job(release, name, script, trace=True) for name, script in scripts.items() for release in releases)
    finished = host.finish_all(jobs)
    for name, script in scripts.items():
        answers = {release: _digest_of_answer(next(finished)) for release in releases}
        yield GoldenScript(name, digest_of_script(script), answers)
    next(finished, None)


def corpus() -> Iterator[str]:
    """Yield the names of all scripts with golden digests."""
    yield from (name_of(depth, number) for depth, scripts in SCRIPTS_OF.items() for number in range(scripts))
    yield from ONCE_APART


def drift(committed: Iterable[GoldenScript], executed: Iterable[GoldenScript]) -> Iterator[str]:
    """Yield a sentence for each missing or changed script, and for each script with changed answers."""
    before = {golden.name: golden for golden in committed}
    today = list(executed)
    yield from (f"{name}: golden digests without a script" for name in before.keys() - {now.name for now in today})
    for now in today:
        golden = before.get(now.name)
        if golden is None:
            yield f"{now.name}: no golden digest"
        elif golden.script_digest != now.script_digest:
            yield f"{now.name}: the generators make another script"
        else:
            changed = [release for release, digest in now.answers.items() if golden.answers.get(release) != digest]
            if changed:
                yield f"{now.name}: other answers of {' '.join(changed)}"


def stale(file: Path | None = None) -> Iterator[str]:
    """Yield a sentence for each changed input of the committed digests."""
    data = json.loads((file or resource(GOLDEN_DIGESTS)).read_text(encoding="utf-8"))
    if data["java_host_sha256"] != java_host_fingerprint():
        yield "the sources of the Java host changed since"
    made_with, today = data["releases"], class_paths()
    odd = [release for release in dict.fromkeys((*made_with, *today)) if made_with.get(release) != today.get(release)]
    if odd:
        yield f"other jars, or none, of {' '.join(odd)}"


def class_paths() -> dict[str, str]:
    """Return the digest of every release's jars."""
    return {release: artifacts_fingerprint(release) for release in client_releases()}


def digest_of(lines: Sequence[str]) -> str:
    """Digest of an answer."""
    return sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS]


def digest_of_script(script: Script) -> str:
    """Digest of a script's canonical form."""
    return sha256(canonical(script).encode()).hexdigest()[:_DIGITS]


def text_of(scripts: Iterable[GoldenScript], releases: Mapping[str, str], made_by: str) -> str:
    """Return the file's text. A script's pattern has one letter per release, in order; equal letters mean equal answers."""
    head: dict[str, Any] = {
        "format": 1,
        "made_by": "python -m rocketdiff.lab.fuzz.golden_digests",
        "java_host_sha256": made_by,
    }
    rows = ",\n".join(f"  {json.dumps(script.name)}: {json.dumps(_entry(script))}" for script in scripts)
    head_text = json.dumps({**head, "releases": releases}, indent=1)[:-2]
    return f'{head_text},\n "scripts": {{\n{rows}\n }}\n}}\n'


def _entry(golden: GoldenScript) -> dict[str, Any]:
    letters: dict[str, str] = {}
    for digest in golden.answers.values():
        letters.setdefault(digest, _LETTERS[len(letters)])
    pattern = "".join(letters[digest] for digest in golden.answers.values())
    return {
        "script": golden.script_digest,
        "pattern": pattern,
        "answers": {letter: digest for digest, letter in letters.items()},
    }


def _digest_of_answer(finished: Finished) -> str:
    if finished.error is not None:
        raise finished.error
    return digest_of(finished.lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute and compare; write unless --check is given. Return 1 if anything changed."""
    parser = argparse.ArgumentParser(prog="python -m rocketdiff.lab.fuzz.golden_digests", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    only_checked = parser.parse_args(arguments).check
    releases, file = client_releases(), resource("fixtures") / GOLDEN_DIGESTS.removeprefix("fixtures/")
    with JavaHost() as host:
        executed = tuple(execute(host, releases, corpus()))
    changes = (
        [*drift(load_golden_digests(file), executed), *stale(file)] if file.exists() else ["no golden digests yet"]
    )
    for change in changes:
        sys.stdout.write(change + "\n")
    if not only_checked:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text_of(executed, class_paths(), java_host_fingerprint()), encoding="utf-8")
    sys.stdout.write(f"{len(executed)} scripts, {len(releases)} releases: {len(changes) or 'no'} changes\n")
    return int(bool(changes))


if __name__ == "__main__":
    sys.exit(main())
