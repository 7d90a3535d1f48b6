"""What ``rocketdiff cluster clean`` does: pay what runs that are gone still owe, to whatever cluster."""

from collections.abc import Callable

from harness.cluster.external.debts import debts_of_the_dead, owners_at_work
from harness.cluster.external.settling import settle
from harness.core.errors import ClusterError


def clean(say: Callable[[str], object]) -> None:
    """
    Pay, and tell each debt as it is paid; runs that live keep theirs.

    Raises ClusterError for what cannot be paid; it stays written down.
    """
    problems: list[str] = []
    is_anything_owed = False
    for debts in debts_of_the_dead():
        where = f"cluster {debts.owner.cluster}" if debts.owner is not None else "an unknown cluster"
        before = debts.owed
        is_anything_owed = is_anything_owed or bool(before)
        problems += settle(debts)
        for debt in before:
            if debt not in debts.owed:
                say(f"{where}: {debt.key}: done")
    for owner in owners_at_work():
        say(f"cluster {owner.cluster}: a run is at work there ({owner.run_folder}); what it owes is its own business")
    if problems:
        raise ClusterError(
            "every cluster to be left as it was found", seen="; ".join(problems), hint="do it by hand, then again"
        )
    if not is_anything_owed:
        say("nothing is owed to any cluster")
