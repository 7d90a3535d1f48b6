"""The Python reference on a script, in virtual time: the rules of reference_impl, driven by events instead of a network."""

from rocketdiff.simulation.virtual.run import run_reference

__all__ = ["run_reference"]
