"""The table of opportunities is what its command counts."""

from maintenance.opportunities import TABLE, opportunities, scenarios_counted, table
from rocketdiff.scenario import select


def column(text: str, suite: str) -> dict[str, str]:
    """One column of the table, by occasion."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line[:1] == "|"]
    place = rows[0].index(suite)
    return {row[0]: row[place] for row in rows[2:]}


def test_the_stored_table_has_the_opportunities_of_quick() -> None:
    """Counted anew, suite quick has what the stored table has (``python -m maintenance.opportunities``)."""
    counted = table({"quick": opportunities(select(scenarios_counted(), "quick"))})
    assert column(TABLE.read_text("utf-8"), "quick") == column(counted, "quick")


def test_the_stored_table_counts_the_scenarios_of_every_suite() -> None:
    """A scenario more or less makes the stored table stale."""
    scenarios = scenarios_counted()
    for suite in ("quick", "full", "deployments", "modes", "wire", "client"):
        counted = column(TABLE.read_text("utf-8"), suite)["scenarios counted"]
        assert counted.endswith(f" of {len(select(scenarios, suite))}"), suite
