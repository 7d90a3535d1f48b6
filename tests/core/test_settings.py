"""The table of client settings and its copies where importing it is not allowed."""

from dataclasses import fields
from pathlib import Path

import pytest

from rocketdiff.core.tables.settings import CLIENT_SETTINGS, ClientSettings, Unit
from rocketdiff.simulation.script.vocabulary import ScriptSettings
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.rules.producer.settings import SendSettings

ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "harness" / "rocketdiff" / "drivers" / "java" / "rocketdiff" / "driver" / "sending"
DEFAULTS = {each.name: each.default for each in fields(ClientSettings)}


def row(name: str) -> str:
    """A row of the guide's table."""
    setting = CLIENT_SETTINGS[name]
    value = setting.unit if setting.unit is Unit.FLAG else f"{setting.least} to {setting.most} {setting.unit}"
    since = f"from {setting.since}" if setting.since else "all"
    return f"| `{name}` | {value} | {str(DEFAULTS[name]).lower()} | {since} | `{setting.setter}` |"


def test_the_guide_to_scenarios_has_a_row_for_each_setting() -> None:
    """The guide to scenarios has a row for each setting, with default and setter."""
    table = (ROOT / "fixtures" / "README.md").read_text().partition("## Settings\n")[2].partition("\n\nA release")[0]
    assert table.splitlines()[3:] == [row(name) for name in CLIENT_SETTINGS]


def test_the_reference_has_the_same_settings_and_defaults() -> None:
    """The reference has a copy of the settings and defaults, because it imports nothing of the harness."""
    reference = {each.name: each.default for each in fields(ProducerSettings)}
    assert {name: reference.get(name) for name in DEFAULTS} == DEFAULTS


def test_a_script_can_set_every_setting_of_the_rules() -> None:
    """A script can set whatever rules depend on, with the same defaults."""
    script = {each.name: each.default for each in fields(ScriptSettings)}
    rules = {each.name: each.default for each in fields(SendSettings)}
    assert {name: script.get(name) for name in rules} == rules | {"added_retry_response_codes": ()}


@pytest.mark.parametrize("name", CLIENT_SETTINGS)
def test_the_java_driver_calls_the_setter(name: str) -> None:
    """The Java driver calls each setting's setter."""
    source = (DRIVER / "Producers.java").read_text() + (DRIVER / "OptionalSettings.java").read_text()
    assert CLIENT_SETTINGS[name].setter in source
