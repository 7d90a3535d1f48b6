"""What a server answers, as scripts write it: the names are those that the Java host knows."""

import re

import pytest

from rocketdiff.core.resources import resource
from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.script.answers import CODES, STATUSES, Answer, answers_data
from rocketdiff.simulation.script.model import BrokerAnswers
from rocketdiff.simulation.script.vocabulary import Fault
from tests.simulation.script.examples import script_of

CODES_IN_JAVA = "harness/rocketdiff/simulation/java_host/java/rocketdiff/simulation/wire/Codes.java"


def test_both_hosts_know_the_same_codes() -> None:
    """By name and number; the Java host has its own table, since a release may lack some."""
    text = resource(CODES_IN_JAVA).read_text(encoding="utf-8")
    in_java = {name: int(number) for name, number in re.findall(r"([A-Z][A-Z_]+) (\d+)", text)}
    assert in_java == {**CODES, **STATUSES, "SUCCESS": 0}


@pytest.mark.parametrize(
    ("written", "answers", "canonical"),
    [
        (7, (Answer(7),), 7),
        ("SEND_OK", (Answer(),), 0),
        ("timeout", (Answer(fault=Fault.TIMEOUT),), "timeout"),
        ("silent", (Answer(fault=Fault.SILENT),), "silent"),
        ("10", (Answer(code=10),), "FLUSH_DISK_TIMEOUT"),
        ("2", (Answer(code=2),), "SYSTEM_BUSY"),
        ("4711", (Answer(code=4711),), "4711"),
        ({"latency_ms": 7}, (Answer(7),), 7),
        ({"latency_ms": 7, "code": "4711"}, (Answer(7, 4711),), {"latency_ms": 7, "code": 4711}),
        ({"latency_ms": 7, "code": 2}, (Answer(7, 2),), {"latency_ms": 7, "code": "SYSTEM_BUSY"}),
        ({"latency_ms": 7, "code": 12}, (Answer(7, 12),), {"latency_ms": 7, "status": "FLUSH_SLAVE_TIMEOUT"}),
        ({"latency_ms": 7, "status": "SEND_OK"}, (Answer(7),), 7),
        ([0, "fin"], (Answer(), Answer(fault=Fault.FIN)), [0, "fin"]),
    ],
)
def test_an_answer_has_one_shortest_form(written: object, answers: tuple[Answer, ...], canonical: object) -> None:
    """However it was written."""
    assert parse_script(script_of({"do": "broker", "name": "a", "answers": written}), "S").steps == (
        BrokerAnswers("a", answers),
    )
    assert answers_data(answers) == canonical
