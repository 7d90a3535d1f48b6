package rocketdiff.simulation.stand;

import java.util.concurrent.CompletableFuture;
import rocketdiff.simulation.world.World;

/** What FutureCalls lacks: what completes a future wakes those who wait for it, at once and in order. */
@StandsFor(CompletableFuture.class)
public final class CompletableFutureCalls {
    private CompletableFutureCalls() {
    }

    public static Object join(CompletableFuture<?> future) {
        World.current().await(future::isDone, World.FOREVER);
        return future.join();
    }

    public static boolean complete(CompletableFuture<Object> future, Object value) {
        boolean first = future.complete(value);
        World.current().poke();
        return first;
    }

    public static boolean completeExceptionally(CompletableFuture<?> future, Throwable cause) {
        boolean first = future.completeExceptionally(cause);
        World.current().poke();
        return first;
    }
}
