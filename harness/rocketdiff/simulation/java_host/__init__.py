"""The Java host: the real classes of any release in virtual time, one process behind one pipe."""

from rocketdiff.simulation.java_host.host import Finished, HostProgram, JavaHost, Job, java_program, require_release

__all__ = ["Finished", "HostProgram", "JavaHost", "Job", "java_program", "require_release"]
