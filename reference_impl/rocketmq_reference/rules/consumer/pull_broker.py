"""Which member of a broker is asked, master or slave (MQClientInstance.findBrokerAddressInSubscribe)."""

from collections.abc import Mapping
from enum import Enum

from rocketmq_reference.rules.client.route import MASTER_ID
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules


class Asked(Enum):
    """
    Who may stand in for the wanted member of a broker that is not known.

    FIRST_LOOK: nobody, until the route was looked up.
    """

    ANY = "any"
    FIRST_LOOK = "first-look"
    ONLY = "only"

    def is_only(self, *, was_looked_up: bool) -> bool:
        """True if no other member will do."""
        return self is Asked.ONLY or (self is Asked.FIRST_LOOK and not was_looked_up)


def asked_for_query(rules: ConsumerRules) -> Asked:
    """Return who is asked for a committed offset."""
    return Asked.FIRST_LOOK if rules.queries_master_first else Asked.ANY


def asked_for_commit(rules: ConsumerRules) -> Asked:
    """Return who gets an offset to commit; a slave's is overwritten by its master's."""
    return Asked.FIRST_LOOK if rules.commits_to_master_first else Asked.ANY


def member_of(
    members: Mapping[int, str], broker_id: int, *, is_only: bool, tries_next_slave: bool
) -> tuple[int, str] | None:
    """
    Return broker id and address of the member to ask; members: broker id → address.

    Without the wanted one, and unless it is the only one that will do: the next id (of a slave, from 4.8.0), then the least.
    """
    wanted = [broker_id]
    if tries_next_slave and broker_id != MASTER_ID:
        wanted.append(broker_id + 1)
    if members and not is_only:
        wanted.append(min(members))
    return next(((each, members[each]) for each in wanted if each in members), None)
