"""A runner for tests: starts a scripted subject, prints its supervisor's process id and waits."""

import json
import sys
import time
from pathlib import Path

from rocketdiff.core.arm import BASELINE
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.subjects.conftest import Scripted


def main() -> None:
    """Print the supervisor's process id after hello."""
    subject = SubjectProcess(Scripted(json.loads(sys.argv[2])), BASELINE, Path(sys.argv[1]), on_line=lambda _: None)
    subject.await_hello()
    sys.stdout.write(json.dumps({"supervisor": subject._process.pid}) + "\n")
    sys.stdout.flush()
    time.sleep(60)


if __name__ == "__main__":
    main()
