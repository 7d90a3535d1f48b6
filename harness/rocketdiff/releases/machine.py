"""The machine a run ran on; a figure that cannot be read is left empty, never guessed."""

import os
import platform
import sys
from pathlib import Path

from rocketdiff.core.run_info import Machine


def this_machine(java: str) -> Machine:
    """This host, with the version of the JVM that runs brokers and clients."""
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        memory_mib=_memory_mib(),
        python=".".join(map(str, sys.version_info[:3])),
        java=java,
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _memory_mib() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 20)
    except (ValueError, OSError):
        return 0
