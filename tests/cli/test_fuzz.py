"""`rocketdiff fuzz`: a small campaign."""

import json

import pytest

from rocketdiff.cli.app import guarded


def test_a_small_campaign_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """Two very different releases agree with the reference at every depth."""
    arguments = [
        "--release",
        "4.7.1,5.3.3",
        "--decisions",
        "300",
        "--sends",
        "150",
        "--allocations",
        "50",
        "--rounds",
        "20",
        "--seed",
        "5",
    ]
    assert guarded(["fuzz", *arguments]) == 0
    summary = capsys.readouterr().out.splitlines()[-1]
    assert summary.startswith("FUZZ clean releases=2 scripts=")
    assert summary.endswith("seed=5")


def test_json_has_every_field_of_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` has every field of the summary."""
    arguments = ["--subject", "java:4.7.1", "--depth", "selection", "--decisions", "300", "--seed", "5", "--json"]
    assert guarded(["fuzz", *arguments]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["clean"], data["releases"], data["seed"], data["differences"]) == (True, ["4.7.1"], 5, [])
    assert data["done"]["selection"] >= 300
