"""Server answers in scripts."""

import re

import pytest

from rocketdiff.core.resources import resource
from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.script.answers import CODES, STATUSES, ServerAnswer, answers_data
from rocketdiff.simulation.script.steps.environment import BrokerAnswers
from rocketdiff.simulation.script.vocabulary import BrokerFault
from tests.simulation.script.examples import script_of

CODES_IN_JAVA = "harness/rocketdiff/simulation/java_host/java/rocketdiff/simulation/servers/Codes.java"


def test_both_hosts_know_the_same_codes() -> None:
    """The Java host's own table has the same codes; a release may lack some."""
    text = resource(CODES_IN_JAVA).read_text(encoding="utf-8")
    in_java = {name: int(number) for name, number in re.findall(r"([A-Z][A-Z_]+) (\d+)", text)}
    assert in_java == {**CODES, **STATUSES, "SUCCESS": 0}


@pytest.mark.parametrize(
    ("written", "answers", "canonical"),
    [
        (7, (ServerAnswer(7),), 7),
        ("SEND_OK", (ServerAnswer(),), 0),
        ("timeout", (ServerAnswer(fault=BrokerFault.TIMEOUT),), "timeout"),
        ("silent", (ServerAnswer(fault=BrokerFault.SILENT),), "silent"),
        ("10", (ServerAnswer(code=10),), "FLUSH_DISK_TIMEOUT"),
        ("2", (ServerAnswer(code=2),), "SYSTEM_BUSY"),
        ("4711", (ServerAnswer(code=4711),), "4711"),
        ({"latency_ms": 7}, (ServerAnswer(7),), 7),
        ({"latency_ms": 7, "code": "4711"}, (ServerAnswer(7, 4711),), {"latency_ms": 7, "code": 4711}),
        ({"latency_ms": 7, "code": 2}, (ServerAnswer(7, 2),), {"latency_ms": 7, "code": "SYSTEM_BUSY"}),
        ({"latency_ms": 7, "code": 12}, (ServerAnswer(7, 12),), {"latency_ms": 7, "status": "FLUSH_SLAVE_TIMEOUT"}),
        ({"latency_ms": 7, "status": "SEND_OK"}, (ServerAnswer(7),), 7),
        ([0, "fin"], (ServerAnswer(), ServerAnswer(fault=BrokerFault.FIN)), [0, "fin"]),
    ],
)
def test_an_answer_has_one_shortest_form(written: object, answers: tuple[ServerAnswer, ...], canonical: object) -> None:
    """Every notation of an answer has the same shortest form."""
    assert parse_script(script_of({"do": "broker", "name": "a", "answers": written}), "S").steps == (
        BrokerAnswers("a", answers),
    )
    assert answers_data(answers) == canonical
