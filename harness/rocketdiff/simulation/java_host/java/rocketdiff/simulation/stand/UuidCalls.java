package rocketdiff.simulation.stand;

import java.util.UUID;
import rocketdiff.simulation.world.Tape;
import rocketdiff.simulation.world.World;

/** Identifiers from the noise tape. */
@StandsFor(UUID.class)
public final class UuidCalls {
    private UuidCalls() {
    }

    public static UUID randomUUID() {
        Tape noise = World.current().noise;
        return new UUID(noise.mix(), noise.mix());
    }
}
