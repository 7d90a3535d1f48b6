"""The exact sends of the feeder, from a seed."""

from dataclasses import replace

from rocketdiff.core.sends.plan import Plan
from rocketdiff.scenario.sending.plan import sending_plan
from rocketdiff.scenario.sending.workload import Workload


def feeding_plan(workload: Workload, name: str, seed: int, queues_per_broker: int) -> Plan:
    """
    Return the sends of a feeder: message n goes to queue n modulo the number of queues, in the order broker name, queue id.

    Its thread is that of the queue's broker, so a paused broker holds up only its own messages. The workload has a thread a broker.
    """
    plan = sending_plan(workload, name, seed)
    queues = workload.threads * queues_per_broker
    sends = (replace(send, thread=send.argument % queues // queues_per_broker) for send in plan.sends)
    return Plan(plan.seed, plan.threads, tuple(sends))
