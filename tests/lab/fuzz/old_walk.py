"""A dialect with a defect."""

from dataclasses import replace

from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.queue_choice import selection


def with_the_old_walk(dialect: Dialect) -> Dialect:
    """A defect from 5.3.3 on: selection without fault latency works as up to 4.7.1."""
    walk = selection.walk_past_last_broker
    rules = dialect.producer
    changed = replace(dialect, producer=replace(rules, select_plain=walk, select_queue=walk))
    return changed if rules.loop.per_request_cap else dialect
