"""Foreign text in Markdown is shown and does nothing, whatever renders it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketdiff.core.text.markdown import code, fenced, inert, inline, link, table_row
from tests.report.inertness import active_parts, marks_in

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</details><script>alert(1)</script>",
    "<https://evil.example>",
    "[l](javascript:alert(1))",
    "![i](https://evil.example/i.png)",
    "[l][r]\n\n[r]: https://evil.example",
    "see https://evil.example/x, http://evil.example",
    "(www.evil.example) or evil.example",
    "ftp://evil.example mailto:a@evil.example a@evil.example",
    "GH-2 #12 owner/repo#12 !12 $12 %12 &12 ^12",
    "@team thanks @a/b",
    "a `b` ``c`` ```",
    "`@team`",
    "`",
    "``` \n# head\n- [ ] task\n/close",
    "| a | b |\n|---|---|\n\\| c \\\\| d |",
    "&lt;script&gt; &#64;team &commat;team",
    "**bold** __init__ _em_ ~~gone~~ *",
    "$\\href{javascript:alert(1)}{x}$ :tada: {{ site.x }} {% include x %}",
    "a\u200b@\u200bteam \u202egnp.exe \x1b[2J \u2028# head",
    "\\",
    "\\`@team\\`",
    "--- *** ===",
    "1. one\n> quote",
    "<!-- @team -->",
    "\ttab\n    code @team",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_nothing(text: str) -> None:
    """In a sentence, heading, list, table, code span and block nothing is active, and no character is lost from sight."""
    cells = table_row((inline(text), code(text)))
    page = f"# {inline(text)}\n\n{inline(text)}\n\n- {inline(text)} {code(text)}\n\n| a | b |\n|---|---|\n{cells}\n\n{fenced(text)}\n"
    assert active_parts(page) == []
    assert marks_in(page) <= {"text", "code_inline"}
    assert active_parts(inert(text).replace("\n", " "), is_text=True) == []


@given(st.text(st.sampled_from("`\\|<>[]()!@#_*~&;:/w. a\n$1") | st.characters(), max_size=40))
def test_no_text_becomes_active(text: str) -> None:
    """Random text of Markdown's punctuation is never active, and a table keeps its two columns."""
    cells = table_row((inline(text), code(text)))
    assert active_parts(f"{inline(text)}\n\n| a | b |\n|---|---|\n{cells}\n") == []
    assert marks_in(f"a {inline(text)}") <= {"text", "code_inline"}
    assert len(re.findall(r"(?<!\\)\|", cells)) == 3
    assert "\\\\|" not in cells


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("queue 3 of broker_a, 5.3.3", "queue 3 of broker_a, 5.3.3"),
        ("(see run.json)", "(see `run.json`)"),
        ("at most 3 * 2 _or_ [4]", "at most 3 \\* 2 \\_or\\_ \\[4\\]"),
        ("a & b", "a &amp; b"),
        ("by @team.", "by `@team`."),
    ],
)
def test_plain_words_stay_readable(text: str, shown: str) -> None:
    """Ordinary text is hardly changed."""
    assert inline(text) == shown


def test_code_and_links_are_exact() -> None:
    """A command keeps its backticks and pipes; a path with brackets is still one link."""
    assert code("a `b` | c") == "``a `b` | c``"
    assert code("`b`") == "`` `b` ``"
    assert (code(""), code("\n")) == ("", "")
    assert link("evidence", "runs/a b)/<x>") == "[evidence](<runs/a%20b%29/%3Cx%3E>)"
