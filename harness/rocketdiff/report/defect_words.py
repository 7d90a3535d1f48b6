"""Results with defective clients, as sentences of a report and as a table for its documentation."""

from rocketdiff.report.words import plural
from rocketdiff.verdict.defects_found import DefectsFound, SuiteFound


def defect_lines(found: DefectsFound | None) -> tuple[str, ...]:
    """One sentence per suite; empty without a measurement."""
    if found is None:
        return ()
    each = "; ".join(map(_suite, found.suites))
    return (
        f"Of a bank of {found.bank} defective clients of {len(found.kinds)} kinds, each with {plural(found.seeds, 'seed')}, {each}",
    )


def _suite(one: SuiteFound) -> str:
    missed = f" (not always: {', '.join(one.missed)})" if one.missed else ""
    return (
        f"suite {one.suite} finds {one.defects.seen} of the {one.defects.n} that have an opportunity in the {one.played} of its"
        f" {one.scenarios} scenarios that are played in virtual time{missed}"
    )


def table(found: DefectsFound) -> str:
    """The figures in Markdown."""
    head = (
        "| Suite | Scenarios played | Defects with an opportunity | Found with every seed | Trials found | 95 % interval | Not always found |",
        "|---|---|---|---|---|---|---|",
    )
    return "\n".join((*head, *map(_row, found.suites)))


def _row(one: SuiteFound) -> str:
    defects, trials = one.defects, one.trials
    share = trials.seen / max(1, trials.n)
    return (
        f"| {one.suite} | {one.played} of {one.scenarios} | {defects.n} | {defects.seen} | {trials.seen} of {trials.n} ({share:.1%})"
        f" | {trials.low:.1%} to {trials.high:.1%} | {', '.join(one.missed) or '–'} |"
    )
