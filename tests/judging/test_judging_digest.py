"""Which changes make the judging code another program."""

from pathlib import Path

import pytest

from rocketdiff.judging.gate_rates import code_of

SOURCE = '''"""Module."""

LIMIT = 5
"""Its reason."""


class Check:
    """Class."""

    word = "text"

    def evaluate(self) -> int:
        """
        Function.

        More of it.
        """
        # why
        return LIMIT
'''


def code(folder: Path, source: str) -> bytes:
    file = folder / "module.py"
    file.write_text(source)
    return code_of(file)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('"""Module."""', '"""Module: more."""'),
        ('"""Its reason."""', '"""\nIts reason,\nlonger.\n"""'),
        ('    """Class."""\n\n', ""),
        ("        More of it.\n", ""),
        ("LIMIT = 5\n", "LIMIT = 5\n\n\n"),
    ],
)
def test_prose_is_no_other_code(tmp_path: Path, was: str, becomes: str) -> None:
    """A changed docstring, attribute doc or empty line does not change the judging code."""
    assert was in SOURCE
    assert code(tmp_path, SOURCE.replace(was, becomes)) == code(tmp_path, SOURCE)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("LIMIT = 5", "LIMIT = 6"), ('"text"', '"other"'), ("return LIMIT", "return LIMIT + 1"), ("# why", "# why else")],
)
def test_everything_else_is(tmp_path: Path, was: str, becomes: str) -> None:
    """A changed value, also of a string, or comment changes the judging code."""
    assert was in SOURCE
    assert code(tmp_path, SOURCE.replace(was, becomes)) != code(tmp_path, SOURCE)


def test_a_class_in_one_line_with_its_docstring_counts(tmp_path: Path) -> None:
    """A docstring on one line with its class counts as code."""
    line = 'class Wrong(Exception): """Words."""\n'
    assert code(tmp_path, line) == line.strip().encode()
