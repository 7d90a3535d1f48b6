package rocketdiff.simulation.consuming;

import java.util.List;

/** What a script asks of a strategy. */
public final class Allocation {
    final String strategy;
    final List<String> ids;
    final String own;
    /** Broker names and queue ids in turn, for CONFIG; null: not set. */
    final List<Object> queues;
    /** The rooms that MACHINE_ROOM serves; null: not set. */
    final List<String> rooms;
    /** The strategy inside MACHINE_ROOM_NEARBY. */
    final String within;

    public Allocation(
        String strategy, List<String> ids, String own, List<Object> queues, List<String> rooms, String within) {
        this.strategy = strategy;
        this.ids = ids;
        this.own = own;
        this.queues = queues;
        this.rooms = rooms;
        this.within = within;
    }
}
