"""Which connection an address has (channelTables of NettyRemotingClient), and which connections are open besides."""

from rocketmq_reference.rules.client.connection_steps import Connection, Slot, State
from rocketmq_reference.rules.client.remoting_rules import LateClose


class ConnectionTable:
    """
    One entry an address. A connection that lost its entry to another one stays open until somebody closes it.

    late_close: what giving up a connection that was replaced does to the one in its place.
    """

    def __init__(self, late_close: LateClose) -> None:
        self._late_close = late_close
        self._slots: dict[str, Slot] = {}
        self._opened: list[Connection] = []

    def reach(self, address: str) -> tuple[Connection, bool]:
        """The connection of an address, and whether it is a new one that must be asked for."""
        slot = self._slots.get(address)
        if slot is not None and slot.connection.state is not State.CLOSED:
            return slot.connection, False
        slot = Slot(Connection(address))
        slot.connection.slot = slot
        self._slots[address] = slot
        return slot.connection, True

    def current(self, address: str) -> Connection | None:
        """The connection that an address leads to, whatever its state."""
        slot = self._slots.get(address)
        return None if slot is None else slot.connection

    def opened(self) -> tuple[Connection, ...]:
        """The connections that are open."""
        return tuple(self._opened)

    def open_to(self, address: str) -> int:
        """How many connections there are to an address; more than one after GO_AWAY, or where one lost its entry."""
        return sum(connection.address == address for connection in self._opened)

    def came_about(self, connection: Connection) -> None:
        """It is open now."""
        connection.state, connection.came_about = State.OPEN, True
        self._opened.append(connection)

    def shut(self, connection: Connection) -> None:
        """An open one is open no more."""
        connection.state = State.CLOSED
        self._opened.remove(connection)

    def is_known(self, connection: Connection) -> bool:
        """Whether its address leads to it."""
        slot = self._slots.get(connection.address)
        return slot is not None and slot.connection is connection

    def forget(self, connection: Connection) -> None:
        """Its entry goes, if it has one."""
        if self.is_known(connection):
            del self._slots[connection.address]
        self._unslot(connection)

    def give_up(self, connection: Connection) -> None:
        """
        It is about to be closed by its address (closeChannel(addr, channel)), at which its successor may be lost.

        From 5.3.1 on its own entry stays where it is; the close itself takes it away.
        """
        slot, current = connection.slot, self._slots.get(connection.address)
        if self._late_close is LateClose.SPARES:
            self.forget(connection)
        elif current is not None and current.connection is not connection:
            if slot is not None and slot.connection is connection:
                del self._slots[connection.address]
            self._unslot(connection)

    def _unslot(self, connection: Connection) -> None:
        if self._late_close is not LateClose.EVICTS:
            connection.slot = None
