"""The reference's script host: the client code that also runs live, here in virtual time with scripted servers."""

from rocketdiff.simulation.virtual.run import run_reference

__all__ = ["run_reference"]
