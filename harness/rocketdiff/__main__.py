"""
The first thing that runs: ``rocketdiff`` and ``python -m rocketdiff``. Only what ends a program by signal is set here, before anything heavy is imported.

Until the command line is there (some 0.5 s of imports) nothing has been started, so a signal ends the program at once.
"""

import contextlib
import os
import sys
from types import FrameType
from typing import NoReturn

from rocketdiff.cli.endings import INTERRUPTED, INTERRUPTED_MESSAGE, on_signals


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the console script."""
    on_signals(_leave_at_once)
    from rocketdiff.cli.app import main as command_line  # noqa: PLC0415 - see above

    command_line(arguments)


def _leave_at_once(_number: int, _frame: FrameType | None) -> NoReturn:
    """Without an exception, which an import that is under way could turn into something else."""
    with contextlib.suppress(OSError):  # nobody may be reading any more
        os.write(sys.stderr.fileno(), INTERRUPTED_MESSAGE.encode() + b"\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
