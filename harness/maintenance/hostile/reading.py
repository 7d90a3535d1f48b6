"""Gives one document to its reader: it is accepted, refused, or wrong."""

import signal
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from maintenance.hostile.kinds import Kind
from rocketdiff.core.errors import HarnessError

MOST_S = 5.0
"""CPU time, independent of a busy machine; a valid document takes some ms."""

LONGEST_SENTENCE = 3_500
REFUSALS = (4, 69)


class TookTooLong(BaseException):
    """Not an Exception, so that no reader handles it as damage."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``end``: a short name for a table. ``wrong``: empty if the result is allowed."""

    end: str
    wrong: str
    took_s: float


def answer_to(kind: Kind, content: bytes, folder: Path) -> Answer:
    """Write the document to its usual file, and read it."""
    file = folder / kind.file
    file.write_bytes(content)
    began_s = time.process_time()
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, MOST_S)
    try:
        end, wrong = _read(kind, file)
    except TookTooLong:
        end, wrong = "without end", f"more than {MOST_S:g} s"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return Answer(end, wrong, time.process_time() - began_s)


def _read(kind: Kind, file: Path) -> tuple[str, str]:
    try:
        kind.read(file)
    except HarnessError as refused:
        return f"exit {int(refused.exit_code)}", _wording_fault(refused)
    except Exception as error:  # noqa: BLE001 - this is the defect searched for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "traceback", f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
    return "taken", ""


def _wording_fault(refused: HarnessError) -> str:
    text = str(refused)
    if refused.exit_code not in REFUSALS:
        return f"exit code {refused.exit_code}"
    if len(text) > LONGEST_SENTENCE:
        return f"a message of {len(text)} characters"
    if not text.replace("\n", "").replace("\t", "").isprintable():
        return f"a message with control characters: {text[:80]!r}"
    return ""


def _too_long(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TookTooLong
