"""Converts facts of cases to rows of the silver tables, and back."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from rocketdiff.analysis.facts import (
    KINDS,
    CaseFact,
    DifferenceFact,
    Fact,
    LaneBar,
    OutageValue,
    Tally,
    batches,
    columns_of,
    difference_of,
)
from rocketdiff.analysis.summaries import DifferenceCluster, Summaries, ease, in_order, summarise
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.record.rules import BASE, owner_of
from rocketdiff.record.storage.tables import COLUMNS, Kept

MOST_DIFFERENCES = 100
"""
Limit per case, check, signature and arm: a client that is wrong at every send gives ten thousand; ``signatures`` counts all.
"""

_COLUMN_OF: dict[Kept, str] = {
    Kept.SIGNATURES: "difference",
    Kept.DIFFERENCES: "difference",
    Kept.TALLIES: "tally",
    Kept.EPISODES: "episode",
    Kept.JUDGED_FAULTS: "fault",
    Kept.BARS: "lane",
}

CONCLUDED_FROM = (Kept.SIGNATURES, Kept.TALLIES, Kept.EPISODES, Kept.JUDGED_FAULTS)
"""The tables from which answers are concluded."""


def silver(facts: Iterable[CaseFact], wanted: frozenset[str]) -> dict[Kept, pa.Table]:
    """
    Return the rows of one case for the wanted checks; tables without rows are left out.

    Without a difference of these, bars are left out, too.
    """
    kept = [fact for fact in facts if _owner(fact.fact) in wanted]
    if not any(isinstance(fact.fact, DifferenceFact) for fact in kept):
        kept = [fact for fact in kept if not isinstance(fact.fact, LaneBar)]
    summed = summarise(kept)
    rows: dict[Kept, list[CaseFact]] = {
        Kept.SIGNATURES: [CaseFact(one.run, one.number, one.example, one.count) for one in summed.clusters],
        Kept.DIFFERENCES: list(_first_differences(kept)),
        Kept.TALLIES: list(summed.tallies),
        Kept.EPISODES: list(summed.episodes),
        Kept.JUDGED_FAULTS: list(summed.faults),
        Kept.BARS: list(summed.lanes),
    }
    return {table: _table(table, some) for table, some in rows.items() if some}


def summaries_of(tables: dict[Kept, pa.Table]) -> Summaries:
    """Rebuild the summaries from the rows of ``CONCLUDED_FROM``."""
    clusters = (
        DifferenceCluster(row["run"], row["case"], row["count"], difference_of(row))
        for row in _rows(tables, Kept.SIGNATURES)
    )
    others = [*_facts(tables, Kept.EPISODES, OutageValue), *_facts(tables, Kept.JUDGED_FAULTS, FaultRecord)]
    return in_order(clusters, _facts(tables, Kept.TALLIES, Tally), others)


def _rows(tables: dict[Kept, pa.Table], table: Kept) -> list[dict[str, Any]]:
    return tables[table].to_pylist() if table in tables else []


def _facts(tables: dict[Kept, pa.Table], table: Kept, kind: type[Fact]) -> Iterator[CaseFact]:
    names = columns_of(kind)
    for row in _rows(tables, table):
        values = {name: row[name] for name in names}
        if kind is FaultRecord:
            values["kind"] = FaultKind(values["kind"])
        yield CaseFact(row["run"], row["case"], kind(**values))


def _owner(fact: Fact) -> str:
    return owner_of(fact.check) if isinstance(fact, DifferenceFact | Tally | OutageValue) else BASE


def _first_differences(facts: Iterable[CaseFact]) -> Iterator[CaseFact]:
    alike: defaultdict[tuple[str, str, str], list[tuple[tuple[object, ...], CaseFact]]] = defaultdict(list)
    for fact_of_case in facts:
        if isinstance(fact_of_case.fact, DifferenceFact):
            alike[fact_of_case.fact.check, fact_of_case.fact.signature, fact_of_case.fact.arm].append(
                (ease(fact_of_case.fact), fact_of_case)
            )
    for _, some in sorted(alike.items()):
        some.sort(key=lambda pair: pair[0])
        yield from (fact for _, fact in some[:MOST_DIFFERENCES])


def _table(table: Kept, rows: list[CaseFact]) -> pa.Table:
    name = _COLUMN_OF[table]
    found = pa.Table.from_batches(list(batches(rows)))
    kind = found.column(name).combine_chunks()
    assert isinstance(kind, pa.StructArray)
    columns: dict[str, Any] = {
        "run": found.column("run"),
        "case": found.column("number"),
        "owner": pa.array([_owner(row.fact) for row in rows], type=pa.string()),
        "count": found.column("count"),
    }
    columns |= dict(zip(columns_of(KINDS[name]), kind.flatten(), strict=True))
    return pa.table({column: columns[column] for column in COLUMNS[table].names}).cast(COLUMNS[table])
