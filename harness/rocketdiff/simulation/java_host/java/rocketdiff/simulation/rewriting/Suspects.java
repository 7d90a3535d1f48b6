package rocketdiff.simulation.rewriting;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which calls to the JDK touch time, threads, chance or a real network, as far as no rule replaces them.
 *
 * <p>What stands in HARMLESS touches none of them by itself: it makes or asks objects that are virtual already.
 */
final class Suspects {
    private static final String CONCURRENT = "java/util/concurrent/";
    private static final Map<String, Set<String>> HARMLESS = new HashMap<>();

    static {
        harmless("java/lang/Thread", "<init> setDaemon isDaemon setName getName getId setPriority getState"
            + " setUncaughtExceptionHandler getContextClassLoader setContextClassLoader getStackTrace");
        harmless("java/lang/Runtime", "getRuntime totalMemory freeMemory maxMemory");
        harmless("java/lang/System", "arraycopy getProperty setProperty getenv identityHashCode lineSeparator"
            + " getProperties");
        harmless("java/util/UUID", "toString fromString nameUUIDFromBytes hashCode equals <init>"
            + " getMostSignificantBits getLeastSignificantBits");
        harmless("java/util/concurrent/CompletableFuture", "<init> completedFuture thenAccept thenApply thenCompose"
            + " thenRun thenCombine whenComplete handle exceptionally isDone isCancelled isCompletedExceptionally"
            + " getNow allOf anyOf cancel");
        harmless("java/util/concurrent/Semaphore", "<init> availablePermits getQueueLength drainPermits");
        harmless("java/util/concurrent/CountDownLatch", "<init> getCount");
        harmless("java/util/concurrent/Executors", "callable");
        harmless("java/util/concurrent/FutureTask", "<init> run isDone isCancelled cancel");
        harmless("java/util/concurrent/Future", "isDone isCancelled cancel");
        harmless("java/util/concurrent/Executor", "execute");
        for (String pool : new String[] {"ExecutorService", "ThreadPoolExecutor", "ScheduledExecutorService",
            "ScheduledThreadPoolExecutor"}) {
            harmless(CONCURRENT + pool, "<init> execute submit schedule scheduleAtFixedRate scheduleWithFixedDelay"
                + " shutdown shutdownNow isShutdown isTerminated awaitTermination getQueue setCorePoolSize"
                + " setMaximumPoolSize allowCoreThreadTimeOut setRejectedExecutionHandler getCorePoolSize");
        }
        for (String queue : new String[] {"BlockingQueue", "ArrayBlockingQueue", "LinkedBlockingQueue",
            "LinkedBlockingDeque", "PriorityBlockingQueue"}) {
            harmless(CONCURRENT + queue, "<init> size isEmpty clear iterator remove contains peek drainTo toArray"
                + " remainingCapacity stream removeIf forEach");
        }
        for (String lock : new String[] {"Lock", "ReadWriteLock", "ReentrantLock", "ReentrantReadWriteLock",
            "ReentrantReadWriteLock$ReadLock", "ReentrantReadWriteLock$WriteLock"}) {
            harmless(CONCURRENT + "locks/" + lock, "<init> readLock writeLock isLocked isHeldByCurrentThread"
                + " isWriteLocked getReadLockCount");
        }
        harmless("java/util/concurrent/locks/AbstractQueuedSynchronizer", "<init> getState setState"
            + " compareAndSetState");
    }

    /** Calls that are harmless without an argument list only, or with exactly this one. */
    private static final Set<String> HARMLESS_FORMS = new HashSet<>(Arrays.asList(
        "java/util/concurrent/Semaphore.tryAcquire()", "java/util/concurrent/Semaphore.tryAcquire(I)",
        "java/util/concurrent/BlockingQueue.poll()", "java/util/concurrent/LinkedBlockingQueue.poll()",
        "java/util/concurrent/ArrayBlockingQueue.poll()", "java/util/concurrent/locks/Lock.tryLock()",
        "java/util/concurrent/locks/ReentrantLock.tryLock()",
        "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock.tryLock()",
        "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock.tryLock()"));

    /** Classes of java.util.concurrent in which nothing waits, or whose objects are made by calls that are judged. */
    private static final Set<String> INERT = new HashSet<>(Arrays.asList(
        "Callable", "ThreadFactory", "RejectedExecutionHandler", "Delayed", "ScheduledFuture", "TimeUnit",
        "CompletionException", "ExecutionException", "TimeoutException", "RejectedExecutionException",
        "CancellationException", "CompletionStage"));

    private Suspects() {
    }

    private static void harmless(String owner, String names) {
        HARMLESS.put(owner, new HashSet<>(Arrays.asList(names.split(" "))));
    }

    /** Whether the call must not run as it is; rules have been asked before. */
    static boolean isSuspect(String owner, String name, String descriptor) {
        if (!owner.startsWith("java/")) {
            return false;
        }
        if (name.equals("parallelStream") || name.equals("parallel")) {
            return true;
        }
        if (owner.startsWith("java/time/")) {
            return name.equals("now") || name.startsWith("system");
        }
        return isWatched(owner) ? !isHarmless(owner, name, descriptor) : isSuspectForm(owner, name, descriptor);
    }

    private static boolean isWatched(String owner) {
        if (owner.startsWith(CONCURRENT)) {
            String name = owner.substring(CONCURRENT.length());
            boolean collection = name.startsWith("Concurrent") || name.startsWith("CopyOnWrite");
            return !(collection || name.startsWith("atomic/") || name.contains("Policy") || INERT.contains(name));
        }
        return HARMLESS.containsKey(owner) || owner.equals("java/security/SecureRandom");
    }

    private static boolean isHarmless(String owner, String name, String descriptor) {
        Set<String> names = HARMLESS.get(owner);
        if (names != null && names.contains(name)) {
            return true;
        }
        String arguments = descriptor.substring(0, descriptor.indexOf(')') + 1);
        boolean handsOver = name.endsWith("Async") && arguments.endsWith("java/util/concurrent/Executor;)");
        return handsOver || HARMLESS_FORMS.contains(owner + "." + name + arguments);
    }

    private static boolean isSuspectForm(String owner, String name, String descriptor) {
        switch (owner) {
            case "java/util/Date":
                return name.equals("<init>") && descriptor.equals("()V");
            case "java/util/Calendar":
                return name.equals("getInstance");
            case "java/util/GregorianCalendar":
                return name.equals("<init>");
            case "java/util/Collections":
                return name.equals("shuffle");
            case "java/net/URL":
                return name.startsWith("open");
            case "java/net/Socket":
            case "java/net/ServerSocket":
                return name.equals("<init>");
            case "java/nio/channels/Selector":
            case "java/nio/channels/SocketChannel":
                return name.equals("open");
            case "java/lang/Object":
                return name.equals("wait");
            case "java/lang/Math":
            case "java/lang/StrictMath":
                return name.equals("random");
            default:
                return false;
        }
    }
}
