"""The Python reference on a script: the client that runs live, in virtual time and among scripted servers."""

from rocketdiff.simulation.virtual.run import run_reference

__all__ = ["run_reference"]
