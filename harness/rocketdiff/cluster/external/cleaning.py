"""What ``rocketdiff cluster clean`` does: pay what runs that are gone still owe, to whatever cluster."""

from collections.abc import Callable

from rocketdiff.cluster.external.debts import Debts, debts_of_the_dead, owners_at_work
from rocketdiff.cluster.external.settling import settle
from rocketdiff.core.errors import ClusterError


def clean(say: Callable[[str], object]) -> None:
    """
    Pay, and tell each debt as it is paid; runs that live keep theirs.

    Raises ClusterError for what cannot be paid; it stays written down.
    """
    problems: list[str] = []
    paid = 0
    try:
        for debts in debts_of_the_dead():
            paid += _paid(debts, say, problems)
    except ClusterError as problem:
        problems.append(str(problem))
    for owner in owners_at_work():
        say(f"cluster {owner.cluster}: a run is at work there ({owner.run_folder}); what it owes is its own business")
    if problems:
        raise ClusterError(
            "every cluster to be left as it was found", seen="; ".join(problems), hint="do it by hand, then again"
        )
    if not paid:
        say("nothing is owed to any cluster")


def _paid(debts: Debts, say: Callable[[str], object], problems: list[str]) -> int:
    """How many were paid, each told; what could not be is among the problems."""
    where = f"cluster {debts.owner.cluster}" if debts.owner is not None else "an unknown cluster"
    before = debts.owed
    problems += settle(debts)
    done = [debt for debt in before if debt not in debts.owed]
    for debt in done:
        say(f"{where}: {debt.key}: done")
    return len(done)
