"""Only plain YAML is read; all else is refused with its line, whatever its size."""

import os
from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.yaml_source import parse_yaml
from rocketdiff.scenario import load

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdef", "bcdefg", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!bool x", "the tag 'tag:yaml.org,2002:bool'"),
        ("a: !!int ''", "the tag"),
        ("a: !!timestamp x", "the tag"),
        ("a: !x y", "the tag '!x'"),
        ("a: ! y", "the tag '!'"),
        ("b: &b {c: 1}\na: {<<: *b}", "no merge key in f line 2"),
        ("? [a]\n: b", "a key that is text in f line 1"),
        ("1: b", "a key that is text in f line 1; saw '1'"),
        ("null: b", "a key that is text"),
        ("a: 0x" + "F" * 5_000, "a number of at most 40 characters in f line 1; saw 5,002"),
        ("a: " + "9" * 5_000, "a number of at most 40"),
        ("a: 0b_", "YAML in f line 1"),
        ("a: 2026-13-41", "month must be in 1..12"),
        ('a: "\\e[31m"', "text without control characters in f line 1"),
        ('a: "\\0"', "text without control characters"),
        ('a: "\\ud800"', "invalid Unicode character"),
        ('"\\e": 1', "text without control characters"),
        ("a: " + "[" * 50_000, "more than 32 levels"),
        ("- " * 50_000, "more than 32 levels"),
        (BOMB, "at most 20,000 values"),
        ("a: " + "x" * 300_000, "at most 262,144 characters"),
        ("a: *b", "undefined alias"),
    ],
)
def test_yaml_that_is_not_plain_is_refused_with_its_line(text: str, message: str) -> None:
    """YAML that is not plain is refused in one short sentence, whatever its size."""
    with pytest.raises(UsageError) as raised:
        parse_yaml(text, "f")
    assert message in str(raised.value)
    assert len(str(raised.value)) < 300


def test_an_alias_that_saves_typing_is_taken() -> None:
    """An alias is accepted and its values written out."""
    assert parse_yaml("a: &x [1, 2]\nb: *x", "f").data == {"a": [1, 2], "b": [1, 2]}


def test_a_pipe_and_a_folder_are_no_scenario_files(tmp_path: Path) -> None:
    """Pipes, folders and devices are refused; reading a pipe without a writer would never end."""
    os.mkfifo(tmp_path / "pipe.yaml")
    for path, reported in (
        (tmp_path / "pipe.yaml", "a named pipe"),
        (tmp_path, "a folder"),
        (Path("/dev/zero"), "a device"),
    ):
        with pytest.raises(UsageError, match=reported):
            load(path)
