"""A record keeps cases about consumers as it keeps those about producers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.analysis.registry import CODES
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.judging import judging_code
from rocketdiff.record import commands, rules
from rocketdiff.record.commands import add, check, compact, judge, status
from rocketdiff.record.rules import BASE, owner_of, rules_now
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import TRACES, Kept
from rocketdiff.record.work import Here
from rocketdiff.traces.tables import tables_of
from tests.analysis.consuming.group_story import Story, candidate
from tests.record.conftest import NewRun, quiet
from tests.record.groups import write_group_run
from tests.record.rows import all_rows
from tests.record.test_judge import answers, answers_of_analyze

OF_CONSUMERS = tuple(TRACES[spec.name] for spec in tables_of(ClientRole.CONSUMER) if spec.role is ClientRole.CONSUMER)
PAUSE = ((5_000, 3_000),)


@pytest.fixture
def faithful(tmp_path: Path) -> Path:
    return write_group_run(tmp_path / "runs", Story(pauses=PAUSE), run="faithful")


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """The candidate never delivers message 17."""
    return write_group_run(tmp_path / "runs", candidate(lambda group: group.drop(17), pauses=PAUSE), run="lossy")


def test_answers_are_those_of_analyze(recorded: Callable[..., RecordPlace], faithful: Path, lossy: Path) -> None:
    """A group that loses a message diverges in the record as in `analyze`, a faithful one conforms."""
    place = recorded(faithful, lossy)
    assert answers(place) == sorted([*answers_of_analyze(faithful), *answers_of_analyze(lossy)])
    assert dict(status(place).verdicts) == {"conforms": 1, "diverges": 1}


def test_every_row_is_kept_and_compacted(place: RecordPlace, faithful: Path, lossy: Path, new_run: NewRun) -> None:
    """Deliveries, offsets and ownership are kept beside sends of other runs; merged files have the same rows."""
    for run in (faithful, lossy, new_run("sends")):
        add(place, [run], Here())
        judge(place, Here(), print_line=quiet)
    before = all_rows(place)
    counts = {table: len(before[table]) for table in (Kept.HELD, Kept.DELIVERIES, Kept.SENDS, Kept.CASES)}
    delivered = 4 * len(Story().baseline.deliveries) - 1
    assert counts == {Kept.HELD: 400, Kept.DELIVERIES: delivered, Kept.SENDS: 120, Kept.CASES: 3}
    assert all(before[table] for table in (Kept.OWNED, Kept.OFFSETS, Kept.COMMITTED, Kept.MEMBERS, Kept.ALLOCATIONS))
    compact(place, Here(), keep_hours=0, print_line=quiet)
    assert all_rows(place) == before
    assert check(place, Here()) == []


def test_a_record_without_the_tables_has_none_and_takes_them(
    recorded: Callable[..., RecordPlace], new_run: NewRun, lossy: Path
) -> None:
    """A record that was made before the tables existed is read as having none, and takes runs about consumers."""
    place = recorded(new_run("sends"))
    assert not [table for table in OF_CONSUMERS if Path(place.folder(table)).exists()]
    assert {look(place).rows(table, ["run"]).num_rows for table in OF_CONSUMERS} == {0}
    assert check(place, Here()) == []
    add(place, [lossy], Here())
    assert judge(place, Here(), print_line=quiet) == (1, 1)
    assert look(place).rows(Kept.DELIVERIES, ["run"]).num_rows == 2 * len(Story().baseline.deliveries) - 1


def test_a_check_of_consumers_that_changed_is_judged_again_alone(
    recorded: Callable[..., RecordPlace], lossy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only `redelivery` changed, only its facts are computed again, and the answers stay."""
    place = recorded(lossy)
    before = answers(place)
    now = rules_now()
    monkeypatch.setattr(commands, "rules_now", lambda: now | {"redelivery": "changed"})
    output: list[str] = []
    assert judge(place, Here(), print_line=output.append) == (1, 0)
    assert output == ["judged redelivery of 1 runs"]
    assert answers(place) == before


def test_the_digest_of_each_check_of_consumers_covers_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check of consumers has a digest of its own, which changes with its module, and only that of `base` with the pass."""
    mine = [name for name, one in CHECKS.items() if one.role is ClientRole.CONSUMER]
    assert {owner_of(f"{name}.x") for name in mine} == set(mine)
    digested: dict[str, list[str]] = {}

    def listed(modules: list[str], *more: str) -> str:
        digested.setdefault(more[0] if more else BASE, []).extend(modules)
        return "; ".join(modules)

    monkeypatch.setattr(rules, "digest_of", listed)
    found = rules.rules_now.__wrapped__()
    for name in mine:
        own = [module for module in CODES[name].modules if ".consuming.checks." in module]
        assert own
        assert set(own) <= set(found[name].split("; "))
        assert not set(own) & set(found[BASE].split("; "))
    assert "rocketdiff.analysis.consuming.case_pass" in found[BASE]
    assert judging_code.digest_of is not listed
