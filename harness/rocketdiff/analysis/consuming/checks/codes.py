"""The checks about groups of consumers, in the order of evidence."""

from rocketdiff.analysis.consuming.checks import (
    allocation,
    consumption,
    delivered,
    delivery_order,
    flow_control,
    offsets,
    promptness,
    pulling,
    redelivery,
    resume_time,
    retries,
    takeover_time,
)
from rocketdiff.analysis.consuming.checks.group_check import GroupCheck

CONSUMING_CODES: tuple[GroupCheck, ...] = (
    delivered.CODE,
    redelivery.CODE,
    delivery_order.CODE,
    retries.CODE,
    offsets.CODE,
    allocation.CODE,
    pulling.CODE,
    flow_control.CODE,
    promptness.CODE,
    resume_time.CODE,
    takeover_time.CODE,
    consumption.CODE,
)
