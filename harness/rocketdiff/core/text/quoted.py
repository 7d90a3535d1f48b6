"""Make foreign text safe to show in a message on a terminal."""

import re
import reprlib
import unicodedata

from rocketdiff.core.text.plain_text import without_commands

SHOWN_CHARACTERS = 60
"""Longest quotation of a wrong value in a message."""

MOST_CHARACTERS = 1_000
"""Per part of a message: a failed server's last lines are useful, 100 kB are not."""

_HARMLESS = "\n\t"

_FRAME = re.compile(r"\n\s*(?:\d+: |at \S|stack backtrace|note: run with)", re.IGNORECASE)


def printable(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return the text truncated, with control characters and bidirectional marks escaped."""
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}… ({len(text)} characters) …{text[-half:]}"
    return without_commands(
        "".join(char if char in _HARMLESS or char.isprintable() else _written_out(char) for char in text)
    )


def words_of(problem: BaseException, most: int = 300) -> str:
    """Return a library's own message on one line, without the stack frames that some put below it."""
    return printable(" ".join(_FRAME.split(str(problem), maxsplit=1)[0].split())[:most])


def shown(value: object) -> str:
    """Return a wrong value on one short line; safe for recursive values and huge numbers."""
    if isinstance(value, int) and abs(value) >= 10**SHOWN_CHARACTERS:
        return "a number of more than 60 digits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = SHOWN_CHARACTERS
    return printable(short.repr(value))


def word(text: str) -> str:
    """Return a wrong word as typed; quoted if empty, unprintable or with outer white space."""
    return text if text.isprintable() and text == text.strip() and text else repr(text)


def _written_out(one: str) -> str:
    if unicodedata.category(one) == "Zs":  # non-breaking spaces are not printable for isprintable()
        return " "
    return one.encode("unicode_escape").decode("ascii")
