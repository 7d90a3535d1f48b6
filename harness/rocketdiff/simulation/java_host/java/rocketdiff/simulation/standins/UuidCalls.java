package rocketdiff.simulation.standins;

import java.util.UUID;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.Tape;

/** Identifiers from the noise tape. */
@StandsFor(UUID.class)
public final class UuidCalls {
    private UuidCalls() {
    }

    public static UUID randomUUID() {
        Tape noise = Scheduler.current().noise;
        return new UUID(noise.mix(), noise.mix());
    }
}
