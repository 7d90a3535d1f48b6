"""The state machine of connections is the table in its module's docstring."""

from rocketmq_reference.rules.client import connections
from rocketmq_reference.rules.client.connection_steps import State
from rocketmq_reference.rules.client.connections import Connections, Event

IMPOSSIBLE = {
    (state, event) for state in (State.OPEN, State.CLOSED) for event in (Event.CONNECTED, Event.CONNECT_FAILED)
}
"""A connect has one result."""


def test_the_table_of_the_docstring_is_the_program() -> None:
    """The docstring lists the transitions, each in the words of its handler."""
    lines = ["| Connection | Event | What follows |", "|---|---|---|"]
    for (state, event), handler in Connections.TRANSITIONS.items():
        lines.append(f"| {state.name} | {event} | {(handler.__doc__ or '').strip().splitlines()[0]} |")
    assert "\n\n" + "\n".join(lines) + "\n\n" in (connections.__doc__ or "")


def test_every_event_has_a_row_for_every_state() -> None:
    """Only pairs that cannot happen are missing."""
    pairs = {(state, event) for state in State for event in Event}
    assert pairs - set(Connections.TRANSITIONS) == IMPOSSIBLE
