"""Which modules are the judging code, and which changes make it another program."""

import ast
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocketdiff.core.resources import import_path
from rocketdiff.judging import judging_code
from rocketdiff.judging.judging_code import ROOTS, code_of, digest_of, judging_digest, judging_modules, source_of

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
    file = folder / f"module_{len(list(folder.iterdir()))}.py"  # each file is read once
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
def test_a_changed_value_or_comment_is_other_code(tmp_path: Path, was: str, becomes: str) -> None:
    """A changed value, also of a string, or comment changes the judging code."""
    assert was in SOURCE
    assert code(tmp_path, SOURCE.replace(was, becomes)) != code(tmp_path, SOURCE)


def test_a_class_in_one_line_with_its_docstring_counts(tmp_path: Path) -> None:
    """A docstring on one line with its class counts as code."""
    line = 'class Wrong(Exception): """Words."""\n'
    assert code(tmp_path, line) == line.strip().encode()


def test_every_module_that_judging_imports_is_judging_code() -> None:
    """Every module with code that Python imports for a judgement is part of the judging code."""
    program = f"import sys, {', '.join(ROOTS)}\nprint(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": import_path()}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    found = {name: source for name in ran.stdout.split() if (source := source_of(name)) is not None and code_of(source)}
    assert set(ROOTS) <= found.keys()
    assert found.keys() - set(judging_modules()) == {"rocketdiff"}  # its version, which is compared by itself


@pytest.mark.parametrize(
    ("module", "is_judging"),
    [
        ("rocketdiff.core.tables.fault", True),
        ("rocketdiff.core.tables.topology", True),
        ("rocketdiff.core.tables.checks", True),
        ("rocketdiff.core.run_info", True),
        ("rocketdiff.protocol.records", True),
        ("rocketdiff.oracle.choices", True),
        ("rocketdiff.verdict.counts", True),
        ("rocketdiff.analysis.spark.cases", True),
        ("rocketmq_reference.dialects.producer", True),
        ("rocketdiff.report.clusters", False),
        ("rocketdiff.releases.jdk", False),
    ],
)
def test_an_edit_of_judging_code_changes_its_digest(
    monkeypatch: pytest.MonkeyPatch, module: str, *, is_judging: bool
) -> None:
    """An edit of a module changes the judging digest if a judgement may depend on it, for example a fault's effect."""
    edited, before = source_of(module), judging_digest()
    assert edited is not None
    monkeypatch.setattr(judging_code, "code_of", lambda source: code_of(source) + b"#" * (source == edited))
    assert (digest_of(judging_modules()) != before) == is_judging


def test_the_judging_digest_is_made_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judging digest is computed once per process."""
    before = judging_digest()
    monkeypatch.setattr(judging_code, "digest_of", lambda *_: "read again")
    assert judging_digest() == before


def test_without_sources_there_is_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sources the digest is empty, which is compared with nothing."""
    monkeypatch.setattr(judging_code, "judging_modules", tuple)
    assert judging_digest.__wrapped__() == ""


def test_one_thread_parses_at_a_time(tmp_path: Path) -> None:
    """While one thread parses a source, others wait: Python 3.11 raises SystemError otherwise."""
    inside, counts, parse = list[int](), list[int](), ast.parse

    def parsed(content: bytes) -> ast.Module:
        inside.append(1)
        counts.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return parse(content)

    files = [tmp_path / f"{number}.py" for number in range(4)]
    for file in files:
        file.write_text("x = 1")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(len(files)) as pool:
        patch.setattr(ast, "parse", parsed)
        assert list(pool.map(code_of, files)) == [b"x = 1"] * 4
    assert counts == [1] * 4
