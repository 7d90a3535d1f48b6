"""
Entry point of ``rocketdiff`` and ``python -m rocketdiff``. It sets the signal handlers before anything heavy is imported.

Importing the command line takes about 0.5 s. Nothing has been started by then, so a signal ends the program at once.
"""

import contextlib
import os
import sys
from types import FrameType
from typing import NoReturn

from rocketdiff.cli.endings import INTERRUPTED, INTERRUPTED_MESSAGE, on_signals


def main(arguments: list[str] | None = None) -> None:
    """Console script."""
    on_signals(_leave_at_once)
    from rocketdiff.cli.app import main as command_line  # noqa: PLC0415 - see above

    command_line(arguments)


def _leave_at_once(_number: int, _frame: FrameType | None) -> NoReturn:
    """Without an exception, which an import in progress could turn into another one."""
    with contextlib.suppress(OSError):  # the reader may be gone
        os.write(sys.stderr.fileno(), INTERRUPTED_MESSAGE.encode() + b"\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
