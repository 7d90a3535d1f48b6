"""Without the packages of an extra, the gate works, and what needs them is refused in one sentence."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CAMPAIGN = ROOT / "fixtures" / "examples" / "campaign.yaml"
HIDDEN = """
import sys
sys.modules.update(dict.fromkeys(("altair", "deltalake", "docker", "testcontainers", "vl_convert")))
from rocketdiff.__main__ import main
main(sys.argv[1:])
"""
GATE = ("run", "--subject", "java:5.3.3", "--subject", "python:5.3.3", "--scenario", "round-robin/calm", "--dry-run")


def rocketdiff(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a Python in which these packages cannot be imported."""
    command = [sys.executable, "-c", HIDDEN, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*GATE, "--cluster", "containers"),
            (
                "expected the packages of the extra containers, for --cluster containers; saw no module docker;"
                " try: pip install 'rocketdiff[containers]'"
            ),
        ),
        (
            ("record", "status", "--record", "record"),
            (
                "expected the packages of the extra record, for the record of runs; saw no module deltalake;"
                " try: pip install 'rocketdiff[record]'"
            ),
        ),
        (
            ("campaign", str(CAMPAIGN), "--out", "nights", "--record", "record"),
            (
                "expected the packages of the extra record, for the record of runs; saw no module deltalake;"
                " try: pip install 'rocketdiff[record]'"
            ),
        ),
    ],
    ids=["containers", "record", "campaign"],
)
def test_a_command_whose_packages_are_missing_names_the_extra(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    """The message has what was expected, what was seen and how to install it; nothing was started."""
    ran = rocketdiff(*arguments, folder=tmp_path)
    assert (ran.returncode, ran.stderr.strip()) == (69, f"rocketdiff: {message}")


def test_the_gate_needs_no_extra(tmp_path: Path) -> None:
    """A run is planned without them."""
    assert rocketdiff(*GATE, folder=tmp_path).returncode == 0


def test_a_report_without_charts_has_its_figures_and_names_the_extra(tmp_path: Path) -> None:
    """The page is complete but for the charts that Vega draws, and says how to have them."""
    document = ROOT / "reports" / "sample" / "report.json"
    shutil.copy(document, tmp_path)
    ran = rocketdiff("report", "report.json", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "report.html").read_text()
    assert "Some charts are left out: expected the packages of the extra charts" in page
    assert "pip install &#39;rocketdiff[charts]&#39;" in page
    assert 'class="wide lanes"' in page
    assert 'class="shares"' not in page


def test_doctor_lists_missing_extras(tmp_path: Path) -> None:
    """Extras are findings that nothing needs."""
    ran = rocketdiff("doctor", "--json", folder=tmp_path)
    found = {finding["name"]: finding for finding in json.loads(ran.stdout)}
    extras = [found[f"extra {name}"] for name in ("charts", "containers", "record")]
    assert [(one["ok"], one["needed"]) for one in extras] == [(False, False)] * 3
    assert found["extra record"]["remedy"] == "only for the record of runs: pip install 'rocketdiff[record]'"
    assert "no module docker" in found["container image base"]["seen"]
