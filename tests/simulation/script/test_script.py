"""Scripts are read strictly, and written in one canonical form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.simulation.script import canonical, parse_script, to_dict
from rocketdiff.simulation.script.answers import BrokerRoute, ServerAnswer
from rocketdiff.simulation.script.model import Entry, Script, Timeline
from rocketdiff.simulation.script.steps.environment import Advance, BrokerAnswers, Dump, Pause
from rocketdiff.simulation.script.steps.sending import QueueOf, Select, Send, Update
from rocketdiff.simulation.script.vocabulary import BrokerFault, Depth, DumpPart, Lookup, Mode, ScriptSettings
from tests.simulation.script.examples import BAD, EVERYTHING, EXAMPLE, script_of


def test_the_example_of_the_design_is_read() -> None:
    """The design's example is read correctly."""
    assert parse_script(EXAMPLE, "S") == Script(
        route=(BrokerRoute("a", 4), BrokerRoute("b", 4)),
        steps=(
            Update("a", 5, isolation=True, reachable=True),
            Select(),
            Advance(100),
            BrokerAnswers("a", (ServerAnswer(fault=BrokerFault.TIMEOUT),)),
            Send(Mode.SYNC, count=3),
            Dump((DumpPart.INDEX, DumpPart.QUEUES, DumpPart.FAULTS)),
        ),
        settings=ScriptSettings(send_latency_fault_enable=True),
        start_index=(11,),
        seed=1,
    )


def test_everything_the_format_knows_is_kept() -> None:
    """A canonical script is written back unchanged."""
    assert to_dict(parse_script(EVERYTHING, "E")) == EVERYTHING


def test_extensions_are_read_correctly() -> None:
    """Fields whose model differs from their text are read correctly."""
    script = parse_script(EVERYTHING, "E")
    assert script.depth is Depth.REMOTING
    assert script.lookup is Lookup.AT_FIRST_SEND
    assert script.start_index == (11, -5)
    assert script.route == (BrokerRoute("a", 4, perm=4, master=False, at="c"), BrokerRoute("b", 2, slaves=((1, "s"),)))
    assert script.steps[4] == BrokerAnswers("b", (ServerAnswer(3, code=2),))
    assert script.steps[5] == BrokerAnswers("b", (ServerAnswer(3, code=10),))
    assert script.steps[17] == Send(Mode.ONE_WAY, queue=QueueOf("a", 1))
    assert script.steps[22] == Timeline(
        (Entry(0, Send(thread=2)), Entry(5, Select("a", thread=1)), Entry(3_000, Pause("a")))
    )


def test_two_texts_that_mean_the_same_have_one_canonical_form() -> None:
    """Field order, explicit defaults and notations of a code do not change the canonical form."""
    one = script_of({"do": "broker", "answers": "2", "name": "a"}, {"do": "dump", "parts": ["faults", "index"]}, seed=0)
    other = script_of(
        {"do": "broker", "name": "a", "answers": {"code": 2}}, {"do": "dump", "parts": ["index", "faults"]}, settings={}
    )
    assert canonical(parse_script(one, "1")) == canonical(parse_script(json.dumps(other), "2"))
    assert '"SYSTEM_BUSY"' in canonical(parse_script(one, "1"))


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message for _, message in BAD])
def test_a_mistake_is_one_sentence_with_its_place(data: dict[str, Any], message: str) -> None:
    """A mistake is one sentence: the place, what was expected and seen, and the nearest name."""
    with pytest.raises(UsageError) as caught:
        parse_script(data, "S")
    assert message in str(caught.value)
    assert caught.value.exit_code == ExitCode.USAGE
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSON in script S; saw Expecting property name enclosed in double quotes on line 1"),
        ('{"format": 1, "format": 1}', "each key once in an object (script S); saw 'format' twice"),
        ('{"format": NaN}', "a number (script S); saw NaN"),
        ('"x"', "an object at the top level (script S); saw 'x'"),
        ("[" * 100_000, "JSON in script S; saw"),
        ('{"format": ' + "9" * 5_000 + "}", "JSON in script S; saw Exceeds the limit"),
        (b"\xff{}", "JSON in script S; saw 'utf-8' codec can't decode"),
        ("", "JSON in script S"),
    ],
)
def test_invalid_json_is_refused_in_one_sentence(text: str | bytes, message: str) -> None:
    """Invalid JSON, duplicate keys, NaN and deep nesting are refused in one sentence."""
    with pytest.raises(UsageError) as caught:
        parse_script(text, "S")
    assert message in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data(), junk=JSON)
def test_any_value_in_any_place_is_taken_or_refused(data: st.DataObject, junk: Any) -> None:
    """Any value in any place gives a script or a UsageError."""
    copy: Any = json.loads(json.dumps(EVERYTHING))
    parent, part = copy, data.draw(st.sampled_from(sorted(copy)))
    while isinstance(parent[part], dict | list) and parent[part] and data.draw(st.booleans()):
        parent = parent[part]
        part = data.draw(
            st.sampled_from(sorted(parent)) if isinstance(parent, dict) else st.integers(0, len(parent) - 1)
        )
    parent[part] = junk
    try:
        script = parse_script(copy, "S")
    except UsageError:
        return
    assert parse_script(canonical(script), "S") == script
