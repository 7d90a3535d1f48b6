package rocketdiff.simulation.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import rocketdiff.simulation.scheduler.Scheduler;

/** Things that happen side by side, at times counted from the beginning of the step; over when all are done. */
final class Timeline implements Step {
    /** One entry: what, when. */
    private static final class Entry {
        final long atMs;
        final Step step;
        final int number;

        Entry(long atMs, Step step, int number) {
            this.atMs = atMs;
            this.step = step;
            this.number = number;
        }
    }

    private final List<Entry> environment = new ArrayList<>();
    private final Map<Integer, List<Entry>> byThread = new TreeMap<>();

    Timeline(List<?> written) {
        for (Object item : written) {
            Fields fields = new Fields("timeline entry", item);
            int number = environment.size() + byThread.values().stream().mapToInt(List::size).sum();
            add(new Entry(fields.number("at_ms"), StepReader.step(fields.any("action")), number));
        }
    }

    private void add(Entry entry) {
        int thread = entry.step.thread();
        List<Entry> list = thread < 0 ? environment : byThread.computeIfAbsent(thread, any -> new ArrayList<>());
        list.add(entry);
    }

    @Override
    public void run(Run run, Place place) {
        Scheduler scheduler = run.scheduler;
        long beginMs = scheduler.nowMs();
        int[] open = {environment.size()};
        for (Entry entry : environment) {
            scheduler.at(beginMs + entry.atMs, () -> {
                happen(run, entry, place);
                open[0]--;
            });
        }
        open[0] += byThread.size();
        // Done as an event, so that thread 0, which takes its turn right below, comes before the others.
        scheduler.at(beginMs, () -> handToOthers(run, beginMs, place, open));
        scheduler.takeTurn();
        if (byThread.containsKey(0)) {
            perform(run, byThread.get(0), beginMs, place);
            open[0]--;
        }
        scheduler.await(() -> open[0] == 0, Scheduler.FOREVER);
    }

    private void handToOthers(Run run, long beginMs, Place place, int[] open) {
        byThread.forEach((thread, entries) -> {
            if (thread != 0) {
                run.senders.hand(thread, () -> {
                    perform(run, entries, beginMs, place);
                    open[0]--;
                });
            }
        });
    }

    private static void happen(Run run, Entry entry, Place place) {
        Runnable action = () -> entry.step.run(run, place.entry(entry.number));
        if (entry.step.mayWait()) {
            run.scheduler.spawn("environment", null, action);
        } else {
            action.run();
        }
    }

    private static void perform(Run run, List<Entry> entries, long beginMs, Place place) {
        for (Entry entry : entries) {
            run.scheduler.sleepUntil(beginMs + entry.atMs);
            entry.step.run(run, place.entry(entry.number));
        }
    }
}
