"""Toy releases with literal answers: a runner without Java, and executions with it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from rocketdiff.lab.history.changelog import Corpus
from rocketdiff.lab.history.digest_store import DigestStore
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.simulation.golden.files import grouped
from rocketdiff.simulation.golden.standard import About, StandardScript
from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.script import NamedScript, Script, parse_script

SCRIPT = parse_script({"format": 1, "route": {"a": 4}, "start_index": 0, "steps": [{"do": "select"}]}, "toy")


def select_line(name: str, queue_id: int) -> str:
    return f'{{"script": "{name}", "step": 0, "select": {{"broker": "a", "queue_id": {queue_id}}}}}'


class ForgetfulStore(DigestStore):
    """Stores nothing, so everything runs."""

    def read(self, keys: Iterable[str]) -> dict[str, str]:  # noqa: ARG002 - nothing is known of any
        return {}

    def write(self, digests: Mapping[str, str]) -> None:
        pass


class ToyRunner:
    """Answers with the queue that ``queue_of`` gives and records its jobs."""

    def __init__(self, queue_of: Callable[[str, str, Script], int]) -> None:
        self.queue_of = queue_of
        self.jobs: list[tuple[str, str]] = []

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        for job in jobs:
            self.jobs.append((job.release, job.name))
            yield job, [select_line(job.name, self.queue_of(job.release, job.name, job.script))]


def by_table(answers: Mapping[str, Mapping[str, int]]) -> ToyRunner:
    """A runner from script → release → queue; other releases give queue 0."""
    return ToyRunner(lambda release, name, _: answers.get(name, {}).get(release, 0))


def toy_executions(runner: ToyRunner, store: Path | None = None) -> Executions:
    return Executions(runner, DigestStore(store) if store else ForgetfulStore(), lambda release: f"toy {release}")


def toy_standard(name: str, answers: Mapping[str, str], follows: tuple[str, ...] = ()) -> StandardScript:
    about = About(rows=("A1",), shows=f"What {name} does.", matters="It matters.", answers=answers, follows=follows)
    return StandardScript(name, SCRIPT, about)


def toy_corpus(
    runner: ToyRunner,
    standard: tuple[StandardScript, ...],
    releases: tuple[str, ...],
    random: tuple[NamedScript, ...] = (),
) -> Corpus:
    """A corpus whose golden data are the runner's answers."""
    golden = {}
    for one in standard:
        answers = runner.run_all([Job(release, one.name, one.script) for release in releases])
        golden[one.name] = grouped(one.name, {job.release: tuple(lines) for job, lines in answers})
    return Corpus(standard, random, golden)
