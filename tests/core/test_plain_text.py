"""Foreign text can be shown anywhere: nothing in it acts, reorders or hides."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketdiff.core.text.plain_text import TEXT_CHARACTERS, UNPRINTABLE, plain, plain_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a \x1b[2J b", "a \\x1b[2J b"),
        ("title \x1b]0;x\x07", "title \\x1b]0;x\\x07"),
        ("nul\0", "nul\\x00"),
        ("cr\rover", "cr\\x0dover"),
        ("c1 \x9b", "c1 \\x9b"),
        ("bidi \u202egnp.exe", "bidi \\u202egnp.exe"),
        ("half \ud800", "half \\ud800"),
        ("no XML \ufffe", "no XML \\ufffe"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("a\u200bb\u00adc\u2060d", "a\\u200bb\\xadc\\u2060d"),
        ("::error file=x::boo", ": :error file=x::boo"),
        ("seen\n  ::set-output name=x::1", "seen\n  : :set-output name=x::1"),
        ("a ##[error]b", "a # #[error]b"),
        ("##vso[task.complete]", "# #vso[task.complete]"),
        ("std::bad_alloc in a::b", "std::bad_alloc in a::b"),
        ("Ünïcode, 中文, 🙂\tand\nlines", "Ünïcode, 中文, 🙂\tand\nlines"),
    ],
)
def test_active_text_is_escaped(text: str, shown: str) -> None:
    """Text that acts on a terminal or in CI is escaped."""
    assert plain(text) == shown


def test_a_line_has_no_line_end() -> None:
    """``plain_line`` escapes line ends, because a second line could be another statement."""
    assert plain_line("a\n::error::b\tc") == "a\\n::error::b\\tc"


def test_long_text_is_cut_with_a_mark() -> None:
    """Long text is cut: 20,000 characters would make reports of megabytes."""
    shown = plain("x" * 20_000)
    assert len(shown) == TEXT_CHARACTERS
    assert shown.endswith("x … (20,000 characters)")


@given(st.text(st.characters(codec=None) | st.sampled_from("\x1b\r\n:#[\u202e\ud800\ufffe "), max_size=200))
def test_any_text_becomes_plain_once(text: str) -> None:
    """Any text becomes free of control characters and commands, and plain text is unchanged."""
    shown = plain(text)
    assert not UNPRINTABLE.search(shown)
    assert not re.search(r"(?<!\S)::|##\[", shown)
    assert plain(shown) == shown
    shown.encode()
