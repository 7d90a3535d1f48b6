"""
Make foreign text (a client's error, a broker's name, a log line) safe to show.

It reaches terminals, CI logs, SVG files and documents. Control characters can move the cursor, hide text or stop a
drawing program. A line that begins with ``::`` or contains ``##[`` is a command to a CI server.
"""

import re

UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and line end
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # characters without width
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # the same, and marks that reorder text or end a line
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\uffff"  # surrogates, and characters that XML forbids
    "\U000e0000-\U000e0fff]"  # invisible tags and variants
)
"""Characters that act as commands or are invisible."""

_COMMAND = re.compile(r"(?<!\S):{2,}|##(?=(?:vso|teamcity)?\[)")
"""Start of a CI command; also after white space, because some servers strip it and lines are wrapped there."""

TEXT_CHARACTERS = 4_000
"""Longer than any message a person reads, and short enough for a thousand of them in one report."""


def plain(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """
    Return the text with unprintable characters escaped and CI commands broken up, at most ``limit`` characters.

    Line ends and tabs stay. Idempotent.
    """
    shown = without_commands(UNPRINTABLE.sub(_escaped, text))
    if len(shown) <= limit:
        return shown
    suffix = f" … ({len(text):,} characters)"
    return shown[: limit - len(suffix)] + suffix


def without_commands(text: str) -> str:
    """Return the text with every start of a CI command broken up by spaces."""
    return _COMMAND.sub(lambda match: " ".join(match[0]), text)


def plain_line(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """Return plain text with line ends and tabs escaped."""
    return plain(text.replace("\n", "\\n").replace("\t", "\\t"), limit)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
