"""The runs of a campaign file; its format is tested in tests/documents/test_file_formats.py."""

from pathlib import Path

from rocketdiff.campaign.file_format import read
from rocketdiff.campaign.plan import PlannedRun, RunSetting
from rocketdiff.releases.catalogue import client_releases

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_a_run_is_made_of_each_suite_seed_and_setting() -> None:
    """Each suite, seed and setting gives a run; a subject may have its own."""
    campaign = read(FIXTURES / "campaign-format" / "valid-pass" / "everything.yaml")
    first, second = campaign.plan.entries
    assert (len(first.work), len(second.work)) == (3 * 2 * 3, 1 * 1 * 3)
    assert [work.setting for work in second.work] == [
        RunSetting("5.3.3"),
        RunSetting("4.9.7", is_wire_wanted=True),
        RunSetting("5.3.3", "external:cluster.yaml", Path("security.yaml")),
    ]
    assert [work.name for work in second.work] == [
        "all, seed 7, servers 5.3.3",
        "all, seed 7, servers 4.9.7, wire",
        "all, seed 7, servers 5.3.3, external:cluster.yaml, security security.yaml",
    ]
    chosen = [PlannedRun(work.suite, work.patterns) for work in first.work[::3]]
    assert chosen == 2 * [PlannedRun("quick"), PlannedRun("wire"), PlannedRun(None, ("ordered/*",))]
    assert campaign.simulation is not None
    assert (campaign.simulation.releases, campaign.simulation.seeds) == (client_releases(), (1, 2))


def test_the_first_run_of_every_subject_comes_before_the_second_of_any() -> None:
    """Every subject's first run comes before any second run, so that a stopped campaign covers every subject."""
    plan = read(FIXTURES / "campaign-format" / "valid-pass" / "everything.yaml").plan
    assert [entry.spec for entry, _ in plan.runs()] == 3 * ["java:4.7.1", "python:5.3.3"] + 15 * ["java:4.7.1"]
