"""The golden file is the output of the real Java classes."""

import subprocess
from pathlib import Path

import pytest

from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.java_programs import compiled


@pytest.mark.cluster
def test_golden_file_is_what_java_prints(golden: dict[str, str]) -> None:
    """Golden.java with client 5.3.3 prints the lines of the golden file."""
    java = find_java()
    class_path = client_class_path("5.3.3")
    classes = compiled("golden-frames", Path(__file__).parent / "golden", class_path, java)
    command = [str(java.java), "-cp", ":".join(map(str, [classes, *class_path])), "Golden"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    lines = dict(line.split(" ", 1) for line in printed.splitlines() if line.split(" ")[0] in golden)
    assert lines == golden
