"""The form of the reference's answers; golden data and random scripts hold it to the real classes."""

from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of


def test_names_are_printed_as_json_prints_them() -> None:
    """Quotes in names are escaped; a queue is broker and number joined."""
    steps = [{"do": "select"}, {"do": "dump", "parts": ["queues"]}]
    script = parse_script({"format": 1, "route": {'a"': 1}, "start_index": 0, "steps": steps}, "S")
    assert run_reference(dialect_of("5.3.3"), "S", script) == [
        '{"script": "S", "step": 0, "select": {"broker": "a\\"", "queue_id": 0}}',
        '{"script": "S", "step": 1, "dump": {"queues": ["a\\"0"]}}',
    ]
