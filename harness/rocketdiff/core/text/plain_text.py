"""
Text of somebody else's, made fit to be shown: a client's error, a broker's name, a line of a log.

Such text reaches a terminal, the log of a CI job, an SVG and files that people read. A control character can move the
cursor, hide text or stop a program that draws; a line that begins with ``::`` or holds ``##[`` is a command to a CI server.
"""

import re

UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line end
    "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"  # marks that reorder text or end a line
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\uffff"  # halves of characters, and what XML does not take
    "\U000e0000-\U000e007f]"  # invisible tags
)
"""Characters that are not shown as they are: they act, or they cannot be seen."""

_COMMAND = re.compile(r"(?<!\S):{2,}|##(?=(?:vso|teamcity)?\[)")
"""What a command to a CI server begins with: after white space too, since some strip it and lines are wrapped there."""

TEXT_CHARACTERS = 4_000
"""Longer than any message a person reads, and short enough for a thousand of them in one report."""


def plain(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """
    The text with unprintable characters written as escapes, no command to a CI server, and at most ``limit`` characters of it.

    Line ends and tabs stay. Plain text comes back as it is, and what comes back is plain.
    """
    shown = without_commands(UNPRINTABLE.sub(_escaped, text))
    if len(shown) <= limit:
        return shown
    told = f" … ({len(text):,} characters)"
    return shown[: limit - len(told)] + told


def without_commands(text: str) -> str:
    """The text with every beginning of a command to a CI server broken up."""
    return _COMMAND.sub(lambda match: " ".join(match[0]), text)


def plain_line(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """The same in one line: line ends and tabs are escapes too."""
    return plain(text.replace("\n", "\\n").replace("\t", "\\t"), limit)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
