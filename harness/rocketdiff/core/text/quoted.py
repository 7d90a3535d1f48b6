"""Text of others as a message may repeat it: on a terminal it must do nothing but be read."""

import reprlib
import unicodedata

from rocketdiff.core.text.plain_text import without_commands

SHOWN_CHARACTERS = 60
"""How much of a wrong value a message repeats."""

MOST_CHARACTERS = 1_000
"""How much a part of a message may have: the last words of a server that did not start are of use, 100 kB are not."""

_HARMLESS = "\n\t"


def plain(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text with control characters, also those that turn the direction of writing, written out, and cut."""
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}… ({len(text)} characters) …{text[-half:]}"
    return without_commands(
        "".join(one if one in _HARMLESS or one.isprintable() else _written_out(one) for one in text)
    )


def shown(value: object) -> str:
    """A wrong value: short, on one line, and safe for values that contain themselves or have thousands of digits."""
    if isinstance(value, int) and abs(value) >= 10**SHOWN_CHARACTERS:
        return "a number of more than 60 digits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = SHOWN_CHARACTERS
    return plain(short.repr(value))


def word(text: str) -> str:
    """A wrong word as it was typed; in quotes where it has a character that nobody would see at its end."""
    return text if text.isprintable() and text == text.strip() and text else repr(text)


def _written_out(one: str) -> str:
    if unicodedata.category(one) == "Zs":  # the non-breaking spaces, which isprintable does not count
        return " "
    return one.encode("unicode_escape").decode("ascii")
