package rocketdiff.simulation.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import rocketdiff.simulation.consuming.Allocation;
import rocketdiff.simulation.consuming.Allocator;
import rocketdiff.simulation.consuming.Listening;
import rocketdiff.simulation.consuming.Member;
import rocketdiff.simulation.consuming.Subscriber;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.ScriptOver;
import rocketdiff.simulation.servers.Codes;

/** The steps of a consumer. */
final class ConsumingSteps {
    private ConsumingSteps() {
    }

    /** The step of this kind; null: no consumer's. */
    static Step step(String kind, Fields fields) {
        switch (kind) {
            case "allocate":
                return allocate(fields);
            case "members":
                return members(fields);
            case "offset":
            case "consumed":
                return offset(fields, kind.equals("consumed"));
            case "consumer":
                return join(fields);
            case "leave":
                return (run, place) -> {
                    ((Subscriber) run.client).leave();
                    run.lines.changed(place, kind, run.client, run.scheduler.main());
                };
            case "poll":
            case "seek":
            case "commit_polled":
            case "pause_queue":
            case "resume_queue":
            case "assign":
                return polling(kind, fields);
            case "store":
                return store(fields);
            case "notify":
                String notifying = fields.text("broker");
                return (run, place) -> ((Subscriber) run.client).notified(notifying);
            case "reset_offset":
                return reset(fields);
            case "refuse":
                String broker = fields.text("broker");
                String asked = fields.text("asked");
                Integer code = fields.any("code") == null ? null : Codes.number(fields.any("code"));
                return (run, place) -> ((Subscriber) run.client).refuse(broker, asked, code);
            case "hook_fails":
                String hooked = fields.text("asked");
                return (run, place) -> ((Subscriber) run.client).failHook(hooked);
            case "retry_topic":
                return (run, place) -> ((Subscriber) run.client).knowRetryTopic();
            case "suggest":
                String suggesting = fields.text("broker");
                long member = fields.number("id");
                return (run, place) -> ((Subscriber) run.client).suggest(suggesting, member);
            case "lock_holder":
                String of = fields.text("broker");
                int locked = Math.toIntExact(fields.number("queue"));
                boolean isOther = fields.flag("other");
                return (run, place) -> ((Subscriber) run.client).lockHolder(of, locked, isOther);
            case "wake":
                return (run, place) -> ((Member) run.client).wake();
            case "rounds":
                long ms = fields.number("ms");
                return (run, place) -> {
                    run.scheduler.sleepUntil(run.scheduler.nowMs() + ms);
                    run.scheduler.settle();
                    run.lines.begin(place, "rounds").append(((Member) run.client).brokers().report());
                    run.lines.end(run.client, run.scheduler.main());
                };
            default:
                return ProcessQueueSteps.step(kind, fields);
        }
    }

    private static Step reset(Fields fields) {
        String broker = fields.text("broker");
        List<?> queues = fields.list("queues");
        long offset = fields.number("offset");
        return (run, place) -> ((Subscriber) run.client).reset(broker, queues, offset);
    }

    @SuppressWarnings("unchecked")
    private static Step members(Fields fields) {
        List<String> ids = (List<String>) fields.any("ids");
        return (run, place) -> ((Member) run.client).brokers().ids = ids;
    }

    private static Step join(Fields fields) {
        List<Listening.Row> rows = new ArrayList<>();
        for (Object row : fields.has("rules") ? fields.list("rules") : new ArrayList<>()) {
            Fields of = new Fields("rule", row);
            rows.add(new Listening.Row(of.number("every"), of.number("offset", 0), of.number("tries", 1),
                of.has("then") ? of.text("then") : "later", (Long) of.any("level"), of.number("works_ms", 0)));
        }
        Listening listening = new Listening(rows, fields.flag("unknown_topic", false),
            "orderly".equals(fields.textOrNull("listener")), "broadcasting".equals(fields.textOrNull("model")),
            fields.has("tags") ? fields.text("tags") : "*", fields.integer("max_reconsume_times", -1), fields.flag("polls", false),
            fields.has("assign") ? queues(fields.list("assign")) : null, fields.flag("hook", false));
        return (run, place) -> {
            StringBuilder out = run.lines.begin(place, "consumer");
            try {
                ((Subscriber) run.client).join(listening);
                out.append("{\"started\": true}");
            } catch (Failure | ScriptOver hostEnds) {
                throw hostEnds;
            } catch (Throwable thrown) {
                out.append(exception(thrown));
            }
            run.lines.end(run.client, run.scheduler.main());
        };
    }

    private static Step polling(String kind, Fields fields) {
        if (kind.equals("poll")) {
            long ms = fields.number("ms");
            return (run, place) -> answer(run, run.lines.begin(place, kind), () -> ((Subscriber) run.client).poll(ms));
        }
        if (kind.equals("commit_polled")) {
            List<Object> committed = fields.has("queues") ? queues(fields.list("queues")) : null;
            return (run, place) -> answer(run, run.lines.begin(place, kind), () -> ((Subscriber) run.client).commitPolled(committed));
        }
        if (kind.equals("assign")) {
            List<Object> queues = queues(fields.list("queues"));
            return (run, place) -> answer(run, run.lines.begin(place, kind), () -> ((Subscriber) run.client).assign(queues));
        }
        String broker = fields.text("broker");
        int queue = Math.toIntExact(fields.number("queue"));
        if (kind.equals("seek")) {
            String to = (String) fields.any("to");
            long offset = to == null ? fields.number("offset") : 0;
            return (run, place) -> answer(
                run, run.lines.begin(place, kind), () -> ((Subscriber) run.client).seek(broker, queue, offset, to));
        }
        boolean pauses = kind.equals("pause_queue");
        return (run, place) -> answer(
            run, run.lines.begin(place, kind), () -> ((Subscriber) run.client).pauseQueue(broker, queue, pauses));
    }

    /** A call of the application, with its answer as JSON. */
    private interface Asked {
        String call() throws Throwable;
    }

    private static void answer(Run run, StringBuilder out, Asked asked) {
        try {
            out.append(asked.call());
        } catch (Failure | ScriptOver hostEnds) {
            throw hostEnds;
        } catch (Throwable thrown) {
            out.append(exception(thrown));
        }
        run.lines.end(run.client, run.scheduler.main());
    }

    private static Step store(Fields fields) {
        String broker = fields.text("broker");
        int queue = Math.toIntExact(fields.number("queue"));
        long count = fields.number("count", 1);
        int bytes = fields.integer("bytes", 1);
        String tag = fields.textOrNull("tag");
        boolean isTransactional = fields.flag("transactional", false);
        boolean isRetried = fields.flag("retried", false);
        return (run, place) -> ((Subscriber) run.client).store(broker, queue, count, bytes, tag, isTransactional, isRetried);
    }

    private static Step offset(Fields fields, boolean isConsumed) {
        String broker = fields.text("broker");
        int queue = Math.toIntExact(fields.number("queue"));
        Long offset = (Long) fields.any("offset");
        return (run, place) -> {
            Member member = (Member) run.client;
            if (isConsumed) {
                member.consumed(broker, queue, offset);
            } else if (offset == null) {
                member.brokers().offsets.remove(broker + "/" + queue);
            } else {
                member.brokers().offsets.put(broker + "/" + queue, offset);
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static Step allocate(Fields fields) {
        List<Object> queues = fields.has("queues") ? queues(fields.list("queues")) : null;
        List<String> rooms = (List<String>) fields.any("rooms");
        Allocation asked = new Allocation(fields.text("strategy"), (List<String>) fields.list("ids"),
            fields.text("own"), queues, rooms, fields.textOrNull("within"));
        return (run, place) -> {
            answer(run, run.lines.begin(place, "allocate"), asked);
            run.lines.end(run.client, run.scheduler.main());
        };
    }

    private static void answer(Run run, StringBuilder out, Allocation asked) {
        try {
            String share = ((Allocator) run.client).share(asked);
            out.append("{\"share\": ").append(share).append('}');
        } catch (Failure | ScriptOver hostEnds) {
            throw hostEnds;
        } catch (Throwable thrown) {
            out.append(exception(thrown));
        }
    }

    static String exception(Throwable thrown) {
        return "{\"exception\": " + JsonText.of(thrown.getClass().getSimpleName()) + "}";
    }

    private static List<Object> queues(List<?> written) {
        List<Object> queues = new ArrayList<>();
        for (Object queue : written) {
            queues.add(((Map<?, ?>) queue).get("broker"));
            queues.add(((Map<?, ?>) queue).get("queue_id"));
        }
        return queues;
    }
}
