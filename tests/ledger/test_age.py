"""How an entry ages: 30 days of warning, then it declares nothing."""

from datetime import date

import pytest

from rocketdiff.ledger.age import Age, age_of
from tests.ledger.ledger_entries import entry


@pytest.mark.parametrize(
    ("day", "age"),
    [
        (date(2027, 5, 1), Age.CURRENT),
        (date(2027, 5, 2), Age.WARNED),
        (date(2027, 5, 31), Age.WARNED),
        (date(2027, 6, 1), Age.LAPSED),
    ],
)
def test_an_entry_expires_after_its_last_day_and_lapses_a_month_later(day: date, age: Age) -> None:
    """It expires on 2027-05-01."""
    assert age_of(entry(), day)[0] is age


@pytest.mark.parametrize(("day", "age"), [(date(2026, 12, 1), Age.WARNED), (date(2026, 12, 2), Age.LAPSED)])
def test_an_entry_without_an_owner_has_a_month_from_its_first_day(day: date, age: Age) -> None:
    """It was added on 2026-11-01."""
    found, said = age_of(entry(owner=""), day)
    assert (found, said.startswith("has had no owner since 2026-11-01: name one")) == (age, True)


def test_both_troubles_are_told_and_the_earlier_one_counts() -> None:
    """Ownerless since November, expired in May."""
    age, said = age_of(entry(owner=""), date(2027, 5, 2))
    assert age is Age.LAPSED
    assert said == (
        "expired on 2027-05-01: confirm it by a run and set added anew, or remove it;"
        " has had no owner since 2026-11-01: name one; since 2026-12-01 it declares nothing"
    )


def test_a_proposal_has_no_age() -> None:
    """It declares nothing anyway."""
    assert age_of(entry(owner="", proposed=True), date(2030, 1, 1)) == (Age.CURRENT, "")
