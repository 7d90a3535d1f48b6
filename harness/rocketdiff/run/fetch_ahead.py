"""
``python -m rocketdiff.run.fetch_ahead``: download, compile and train what the default run needs, and run nothing.

``make setup`` calls it beside the installation of pyspark, without which it must work. Exit codes as of ``rocketdiff run``.
"""

import sys
from functools import partial

from rocketdiff.cluster.launched import server_archive
from rocketdiff.cluster.launched.command_line import installed
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.releases.class_archive import trained
from rocketdiff.run.execute import fetch
from rocketdiff.run.request import request_of
from rocketdiff.subjects.kinds import java


def main() -> int:
    """Return the exit code; the reason of a failure goes to stderr."""
    try:
        fetch(request_of({}))
        _train(DEFAULT_RELEASE)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    return 0


def _train(release: str) -> None:
    """Make the class archives of client and servers, which cost the first run more than they save it."""
    client, servers = java.java_start(release), installed(release)
    trained(client, partial(java.train, client, release))
    trained(server_archive.start_of(servers), partial(server_archive.train, servers))


if __name__ == "__main__":
    sys.exit(main())
