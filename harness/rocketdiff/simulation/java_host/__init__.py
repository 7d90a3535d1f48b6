"""The Java host: a process that runs the real classes of any release in virtual time."""

from rocketdiff.simulation.java_host.host import Finished, HostProgram, JavaHost, Job, java_program, require_release

__all__ = ["Finished", "HostProgram", "JavaHost", "Job", "java_program", "require_release"]
