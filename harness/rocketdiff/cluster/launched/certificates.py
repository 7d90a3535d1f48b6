"""Certificates for servers that we start and for relays, made by the JDK's keytool. No file of them outlives its use."""

import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache

from rocketdiff.cluster.launched.command_line import LAUNCHER_SOURCES, environment
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.resources import resource
from rocketdiff.core.text.quoted import printable
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.java_programs import compiled

_MAIN_CLASS = "rocketdiff.server.Certificates"

_FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "--add-exports=java.base/sun.security.tools.keytool=ALL-UNNAMED",
)

_MADE_WITHIN_S = 60.0
"""Less than a second on a quiet machine."""

_END = "-----END "


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM texts: the trusted authority; certificate and key of a server on 127.0.0.1; certificate and key of a client."""

    authority: str
    certificate: str
    key: str = field(repr=False)
    client_certificate: str = ""
    client_key: str = field(default="", repr=False)


@cache
def certificates(start: str = "-1H", days: int = 30) -> Certificates:
    """
    Return the certificates of this process. start: of the server certificate's validity, in keytool's format.

    Raises EnvironmentMissing if the JDK cannot make them.
    """
    java = find_java()
    classes = compiled("loopback", resource(LAUNCHER_SOURCES), (), java)
    with tempfile.TemporaryDirectory(prefix="rocketdiff-keys-") as folder:  # of mode 700
        command = (
            str(java.java),
            *_FLAGS,
            f"-Djava.io.tmpdir={folder}",
            "-cp",
            str(classes),
            _MAIN_CLASS,
            start,
            str(days),
        )
        try:
            made = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=_MADE_WITHIN_S,
                env=environment(os.environ),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EnvironmentMissing("the JDK's keytool to make certificates", seen=str(error)) from error
    if made.returncode != 0:
        raise EnvironmentMissing(
            "the JDK's keytool to make certificates", seen=printable(made.stderr or "no output", 300)
        )
    return Certificates(*_texts(made.stdout))


def _texts(pem: str) -> list[str]:
    texts, lines = [], []
    for line in pem.splitlines():
        lines.append(line)
        if line.startswith(_END):
            texts.append("\n".join(lines) + "\n")
            lines = []
    return texts
