package rocketdiff.simulation.standins;

import java.util.concurrent.TimeUnit;

/** Sleeping in units. */
@StandsFor(TimeUnit.class)
public final class TimeUnitCalls {
    private TimeUnitCalls() {
    }

    public static void sleep(TimeUnit unit, long time) throws InterruptedException {
        ThreadCalls.sleep(unit.toMillis(time));
    }
}
