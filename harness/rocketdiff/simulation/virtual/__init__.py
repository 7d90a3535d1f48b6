"""The reference's script host: the client code that also runs live, here in virtual time with scripted servers."""

from rocketdiff.simulation.virtual.run import ROLE_DIALECTS, dialect_for, run_reference

__all__ = ["ROLE_DIALECTS", "dialect_for", "run_reference"]
