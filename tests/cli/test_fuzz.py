"""`rocketdiff fuzz`: refusals and a small campaign."""

import json

import pytest

from rocketdiff.cli.app import guarded


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--release", "5.3.9"], "5.3.3"),
        (["--release", ","], "--release 4.9.8,5.3.3"),
        (["--depth", "deep"], "send-loop"),
        (["--decisions", "many"], "1e6"),
        (["--decisions", "-1"], "1e6"),
        (["--sends", "1.5"], "1e6"),
        (["--sends", "1e10"], "1e6"),
        (["--decisions", "0", "--sends", "0"], "1e5"),
        (["--depth", "selection", "--decisions", "0"], "1e5"),
        (["--save", "pyproject.toml/found"], "a file"),
    ],
)
def test_bad_arguments_are_usage_errors(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong arguments give exit code 4 and a valid example."""
    assert guarded(["fuzz", *arguments]) == 4
    assert hint in capsys.readouterr().err


def test_a_small_campaign_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """Two very different releases agree with the reference at every depth."""
    arguments = ["--release", "4.7.1,5.3.3", "--decisions", "300", "--sends", "150", "--seed", "5"]
    assert guarded(["fuzz", *arguments]) == 0
    summary = capsys.readouterr().out.splitlines()[-1]
    assert summary.startswith("FUZZ clean releases=2 decisions=")
    assert summary.endswith("seed=5")


def test_the_same_campaign_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` has every field of the summary."""
    arguments = ["--subject", "java:4.7.1", "--depth", "selection", "--decisions", "300", "--seed", "5", "--json"]
    assert guarded(["fuzz", *arguments]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["clean"], data["releases"], data["seed"], data["differences"]) == (True, ["4.7.1"], 5, [])
    assert data["done"]["selection"] >= 300
