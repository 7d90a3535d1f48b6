package rocketdiff.simulation.standins;

import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;

/** No management bean is made (50 ms of class loading); MachineCalls answers for it. */
@StandsFor(ManagementFactory.class)
public final class ManagementCalls {
    private ManagementCalls() {
    }

    public static RuntimeMXBean getRuntimeMXBean() {
        return null;
    }
}
