"""Any record of any role, as it was received, and the table of all types of lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketdiff.core.records.consuming import CONSUMING_CLAIMS, CONSUMING_RECORDS, ConsumingRecord
from rocketdiff.core.records.sending import SENDING_CLAIMS, SENDING_RECORDS, SendingRecord
from rocketdiff.core.records.session import SESSION_RECORDS, SessionRecord
from rocketdiff.core.tables.roles import ClientRole

Record = SessionRecord | SendingRecord | ConsumingRecord

ROLE_RECORDS: Mapping[ClientRole, Mapping[str, type[Record]]] = {
    ClientRole.PRODUCER: SENDING_RECORDS,
    ClientRole.CONSUMER: CONSUMING_RECORDS,
}
"""What a client of each role reports besides the records of every session."""

ROLE_CLAIMS: Mapping[ClientRole, frozenset[str]] = {
    ClientRole.PRODUCER: SENDING_CLAIMS,
    ClientRole.CONSUMER: CONSUMING_CLAIMS,
}
"""What a hello may claim for each role."""

RECORDS: Mapping[str, type[Record]] = SESSION_RECORDS | {
    name: record for records in ROLE_RECORDS.values() for name, record in records.items()
}
"""By the ``type`` of a line; no two roles share a type."""


@dataclass(frozen=True, slots=True)
class ReceivedLine:
    """A record, with the fields unknown to this version kept unchanged."""

    record: Record
    extra: dict[str, object] = field(default_factory=dict)
