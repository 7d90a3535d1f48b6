package org.apache.rocketmq.client.common;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Put before the jars of 4.7.1 by a test of the simulation host: each "pick" does something with time, threads or chance.
 * What it does is the number that the script sets the counter to; its result is the queue that is picked.
 */
public class ThreadLocalIndex {
    private final ThreadLocal<Integer> threadLocalIndex = new ThreadLocal<Integer>();
    private final Random random = new Random();
    private boolean told;

    public int getAndIncrement() {
        try {
            return done(threadLocalIndex.get());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private int done(int what) throws Exception {
        long began = System.currentTimeMillis();
        switch (what) {
            case 0:
                return (int) (began - 1_700_000_000_000L);
            case 1:
                Thread.sleep(30);
                break;
            case 2:
                return pooled();
            case 3:
                threaded();
                break;
            case 4:
                new CountDownLatch(1).await(12, TimeUnit.MILLISECONDS);
                break;
            case 5:
                synchronized (this) {
                    wait(25);
                }
                break;
            case 6:
                return random.nextInt(64);
            case 7:
                timed();
                break;
            case 8:
                LongSupplier clock = System::nanoTime;
                TimeUnit.MILLISECONDS.sleep(9);
                return (int) (clock.getAsLong() / 1_000_000);
            case 9:
                notified();
                break;
            case 10:
                locked();
                break;
            case 11:
                return shuffled();
            case 12:
                return expired();
            default:
                return refused(what);
        }
        return (int) (System.currentTimeMillis() - began);
    }

    private int pooled() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4, Thread::new);
        return pool.submit(() -> 17).get();
    }

    private void threaded() throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(1);
        LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        new Thread(() -> {
            try {
                Thread.sleep(queue.take());
            } catch (InterruptedException e) {
                return;
            }
            latch.countDown();
        }, "toy").start();
        Thread.sleep(3);
        queue.add(4);
        latch.await();
    }

    private void timed() throws InterruptedException {
        Semaphore semaphore = new Semaphore(0);
        new Timer("toy", true).scheduleAtFixedRate(new TimerTask() {
            @Override
            public void run() {
                semaphore.release();
            }
        }, 5, 10);
        ScheduledExecutorService scheduled = Executors.newSingleThreadScheduledExecutor(Thread::new);
        scheduled.schedule(() -> semaphore.release(), 40, TimeUnit.MILLISECONDS);
        semaphore.acquire(5);
    }

    private synchronized void notified() throws InterruptedException {
        new Thread(this::tell).start();
        while (!told) {
            wait();
        }
    }

    private synchronized void tell() {
        told = true;
        notifyAll();
    }

    private void locked() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch taken = new CountDownLatch(1);
        new Thread(() -> {
            lock.lock();
            taken.countDown();
            try {
                Thread.sleep(21);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                lock.unlock();
            }
        }).start();
        taken.await();
        lock.lock();
        lock.unlock();
    }

    private int shuffled() {
        List<Integer> items = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            items.add(i);
        }
        Collections.shuffle(items);
        return items.get(0);
    }

    private int expired() throws Exception {
        try {
            new CompletableFuture<Integer>().get(7, TimeUnit.MILLISECONDS);
            return 0;
        } catch (TimeoutException e) {
            return 1;
        }
    }

    /** What no release does so far, and so nothing stands for. */
    private int refused(int what) throws Exception {
        switch (what) {
            case 50:
                LockSupport.parkNanos(1);
                return 0;
            case 51:
                return (int) new Date().getTime();
            case 52:
                return ForkJoinPool.commonPool().getParallelism();
            case 53:
                return CompletableFuture.supplyAsync(() -> 1).get();
            case 54:
                return (int) Collections.singletonList(1).parallelStream().count();
            case 55:
                Runnable park = LockSupport::park;
                park.run();
                return 0;
            default:
                throw new IllegalArgumentException("nothing has the number " + what);
        }
    }
}
