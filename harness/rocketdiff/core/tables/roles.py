"""The roles that a client can have; what each role does, reports and is judged by stands in packages named after it."""

from enum import StrEnum


class ClientRole(StrEnum):
    """What a client under test is used as. A closed set: help, schemas and tables are made from it."""

    PRODUCER = "producer"
    CONSUMER = "consumer"

    @property
    def operations(self) -> str:
        """What a case of this role counts, in the plural."""
        return _OPERATIONS[self]


_OPERATIONS = {ClientRole.PRODUCER: "sends", ClientRole.CONSUMER: "calls"}
