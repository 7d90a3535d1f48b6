"""Lets virtual time pass in tests."""

from rocketdiff.simulation.virtual.kernel import Kernel
from rocketmq_reference.client.effects import Signal


def run_out(kernel: Kernel) -> None:
    """Let time pass until no event is left."""
    kernel.run_until(Signal())
