"""
This machine: what figures of a run depend on, and programs for single features (Chromium, a container engine).

A value that cannot be read is left empty, never guessed.
"""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
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


CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ENGINES = ("docker", "podman")
# A healthy engine answers at once; a hanging one must not block.
ENGINE_ANSWER_S = 5


@dataclass(frozen=True, slots=True)
class ContainerEngine:
    """The container engine. version: None if none runs. seen: the state in words."""

    version: str | None
    seen: str


def chromium() -> Path | None:
    """The first Chromium or Chrome on PATH."""
    found = (shutil.which(name) for name in CHROMIUM_NAMES)
    return next((Path(path) for path in found if path), None)


def container_engine() -> ContainerEngine:
    """The first engine that answers, or the reason why none does."""
    silent = "none on PATH"
    for name in ENGINES:
        program = shutil.which(name)
        if program is None:
            continue
        answer = _ask(program)
        if answer.version is not None:
            return answer
        silent = answer.seen
    return ContainerEngine(None, silent)


def _ask(program: str) -> ContainerEngine:
    command = [program, "version", "--format", "{{.Server.Version}}"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=ENGINE_ANSWER_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return ContainerEngine(None, f"{program} does not answer: {error}")
    version = ran.stdout.strip()
    if ran.returncode != 0 or not version:
        return ContainerEngine(
            None, f"{program} is installed, but: {(ran.stderr or ran.stdout).strip()[:200] or 'no answer'}"
        )
    return ContainerEngine(version, f"{program} {version}")
