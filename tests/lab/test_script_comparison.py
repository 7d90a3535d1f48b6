"""Scripts run by one or two subjects; the reference replaces the Java classes."""

from collections.abc import Iterable, Iterator

from rocketdiff.core.subject import SubjectId
from rocketdiff.lab.script_comparison import answers, compared
from rocketdiff.simulation.comparison import Compared
from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.script import NamedScript, parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of

SCRIPT = parse_script(
    {"format": 1, "route": {"a": 2, "b": 2}, "steps": [{"do": "select"}, {"do": "dump", "parts": ["index"]}]}, "S"
)
SCRIPTS = [NamedScript(name, SCRIPT) for name in ("one", "two")]


class ReferenceAsHost:
    """Answers by the release's dialect and applies the replacement ``defect`` to every line."""

    def __init__(self, defect: tuple[str, str] = ("", "")) -> None:
        self.defect = defect
        self.asked: list[tuple[str, str]] = []

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        for job in jobs:
            self.asked.append((job.release, job.name))
            lines = run_reference(dialect_of(job.release), job.name, job.script, trace=job.trace)
            yield job, [line.replace(*self.defect) if all(self.defect) else line for line in lines]


def subjects(*texts: str) -> list[SubjectId]:
    return [SubjectId.parse(text) for text in texts]


def pair(left: str, right: str) -> tuple[SubjectId, SubjectId]:
    return SubjectId.parse(left), SubjectId.parse(right)


def test_one_subject_answers_every_script() -> None:
    """One subject, Java or the reference, answers every script."""
    for text in ("java:5.3.3", "python:5.3.3"):
        answered = list(answers(subjects(text), SCRIPTS, ReferenceAsHost(), trace=False))
        assert [one.name for one, _ in answered] == ["one", "two"]
        assert all('"step": 0, "select"' in lines[0] for _, (lines,) in answered)


def test_a_trace_has_the_state_with_every_answer() -> None:
    """A trace has the state with every answer."""
    ((_, (lines,)),) = answers(subjects("java:5.3.3"), SCRIPTS[:1], ReferenceAsHost(), trace=True)
    assert '"state": ' in lines[0]


def test_two_releases_of_the_java_client_run_in_one_host() -> None:
    """Two Java releases run in one host, and each script is passed once."""
    host = ReferenceAsHost()
    list(compared(pair("java:4.7.1", "java:5.3.3"), SCRIPTS, host, states=True))
    assert host.asked == [("4.7.1", "one"), ("5.3.3", "one"), ("4.7.1", "two"), ("5.3.3", "two")]


def test_java_and_its_reference_are_compared_script_by_script() -> None:
    """Java and its reference give no difference."""
    results = list(compared(pair("java:5.3.3", "python:5.3.3"), SCRIPTS, ReferenceAsHost(), states=True))
    assert [(one.script.name, one.answers, one.difference) for one in results] == [("one", 2, None), ("two", 2, None)]


def test_a_defect_is_found_with_the_rule_it_breaks() -> None:
    """A host that names another broker differs, with the rule it breaks."""
    host = ReferenceAsHost(('"broker": "a"', '"broker": "b"'))
    results = compared(pair("java:5.3.3", "python:5.3.3"), SCRIPTS, host, states=False)
    differences = [result.difference for result in results]
    assert all(difference is not None and difference.compared is Compared.QUEUE for difference in differences)
    assert all(difference is not None and difference.rules for difference in differences)
