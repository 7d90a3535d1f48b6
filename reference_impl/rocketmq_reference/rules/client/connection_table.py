"""The connection of each address (channelTables of NettyRemotingClient), and all open connections."""

from rocketmq_reference.rules.client.connection_steps import Connection, Slot, State
from rocketmq_reference.rules.client.remoting_rules import LateClose


class ConnectionTable:
    """
    One entry per address. A connection that lost its entry to another one stays open until it is closed explicitly.

    late_close: effect of closing a replaced connection on the one in its place.
    """

    def __init__(self, late_close: LateClose) -> None:
        self._late_close = late_close
        self._slots: dict[str, Slot] = {}
        self._opened: list[Connection] = []

    def reach(self, address: str) -> tuple[Connection, bool]:
        """Return the connection of an address, and whether it is new and must be connected."""
        slot = self._slots.get(address)
        if slot is not None and slot.connection.state is not State.CLOSED:
            return slot.connection, False
        # A new slot; the old connection keeps its own. By that give_up recognizes a replaced connection.
        slot = Slot(Connection(address))
        slot.connection.slot = slot
        self._slots[address] = slot
        return slot.connection, True

    def current(self, address: str) -> Connection | None:
        """Return the connection in the entry of an address, in any state."""
        slot = self._slots.get(address)
        return None if slot is None else slot.connection

    def opened(self) -> tuple[Connection, ...]:
        return tuple(self._opened)

    def open_to(self, address: str) -> int:
        """Count the open connections to an address; more than one after GO_AWAY or after one lost its entry."""
        return sum(connection.address == address for connection in self._opened)

    def came_about(self, connection: Connection) -> None:
        connection.state, connection.came_about = State.OPEN, True
        self._opened.append(connection)

    def shut(self, connection: Connection) -> None:
        connection.state = State.CLOSED
        self._opened.remove(connection)

    def is_known(self, connection: Connection) -> bool:
        """True if the connection is the one in the entry of its address."""
        slot = self._slots.get(connection.address)
        return slot is not None and slot.connection is connection

    def forget(self, connection: Connection) -> None:
        if self.is_known(connection):
            del self._slots[connection.address]
        self._unslot(connection)

    def give_up(self, connection: Connection) -> None:
        """
        Prepare the close of a connection by its address (closeChannel(addr, channel)), which may evict its successor.

        From 5.3.1 on the connection's own entry stays; the close itself removes it.
        """
        slot, current = connection.slot, self._slots.get(connection.address)
        if self._late_close is LateClose.SPARES:
            self.forget(connection)
        elif current is not None and current.connection is not connection:
            # 5.3.1 turned this condition round by mistake: the entry of the successor is removed. A successor from
            # GO_AWAY is safe: it is in the same slot, so that slot.connection is not the old connection any more.
            if slot is not None and slot.connection is connection:
                del self._slots[connection.address]
            self._unslot(connection)

    def _unslot(self, connection: Connection) -> None:
        # Up to 5.3.3 a close clears the slot, so only a connection that never opened still has one when it is given up
        # late. From 5.4.0 the slot is an attribute of the connection and is never cleared: every late close evicts.
        if self._late_close is not LateClose.EVICTS:
            connection.slot = None
