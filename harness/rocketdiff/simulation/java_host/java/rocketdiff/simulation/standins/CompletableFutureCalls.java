package rocketdiff.simulation.standins;

import java.util.concurrent.CompletableFuture;
import rocketdiff.simulation.scheduler.Scheduler;

/** What FutureCalls lacks: what completes a future wakes those who wait for it, at once and in order. */
@StandsFor(CompletableFuture.class)
public final class CompletableFutureCalls {
    private CompletableFutureCalls() {
    }

    public static Object join(CompletableFuture<?> future) {
        Scheduler.current().await(future::isDone, Scheduler.FOREVER);
        return future.join();
    }

    public static boolean complete(CompletableFuture<Object> future, Object value) {
        boolean first = future.complete(value);
        Scheduler.current().poke();
        return first;
    }

    public static boolean completeExceptionally(CompletableFuture<?> future, Throwable cause) {
        boolean first = future.completeExceptionally(cause);
        Scheduler.current().poke();
        return first;
    }
}
