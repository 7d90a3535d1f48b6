package rocketdiff.simulation.standins;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Futures stay the JDK's; waiting for one is virtual. */
@StandsFor(Future.class)
public final class FutureCalls {
    private FutureCalls() {
    }

    public static Object get(Future<?> future) throws InterruptedException, ExecutionException {
        Waits.until(future::isDone);
        return future.get();
    }

    public static Object get(Future<?> future, long time, TimeUnit unit)
        throws InterruptedException, ExecutionException, TimeoutException {
        if (!Waits.until(future::isDone, time, unit)) {
            throw new TimeoutException();
        }
        return future.get();
    }
}
