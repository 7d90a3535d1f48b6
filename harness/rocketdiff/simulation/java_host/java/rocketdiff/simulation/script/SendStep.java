package rocketdiff.simulation.script;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.ScriptOver;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.sending.Content;
import rocketdiff.simulation.sending.SelectionClient;
import rocketdiff.simulation.sending.Send;
import rocketdiff.simulation.sending.SendAnswer;

/** Sends, once or several times, by one thread; a line each. */
final class SendStep implements Step {
    private final Send.Mode mode;
    private final int count;
    private final int thread;
    private final long everyMs;
    private final Long timeoutMs;
    private final String queueBroker;
    private final int queueId;
    private final Integer selector;
    private final Content content;
    private final boolean showsRequests;

    SendStep(Fields fields) {
        thread = fields.integer("thread", 0);
        mode = Send.Mode.valueOf(fields.has("mode") ? fields.text("mode").toUpperCase(Locale.ROOT) : "SYNC");
        count = fields.integer("count", 1);
        everyMs = fields.number("every_ms", 0);
        timeoutMs = fields.has("timeout_ms") ? (Long) fields.number("timeout_ms") : null;
        selector = fields.has("selector") ? (Integer) fields.integer("selector", 0) : null;
        content = fields.has("message") ? content(fields.object("message")) : null;
        showsRequests = fields.flag("request", false);
        boolean explicit = fields.has("queue");
        queueBroker = explicit ? fields.object("queue").text("broker") : null;
        queueId = explicit ? fields.object("queue").integer("queue_id", 0) : 0;
    }

    private static Content content(Fields message) {
        return new Content(message.has("topic") ? message.text("topic") : SelectionClient.TOPIC,
            message.has("properties") ? (Map<?, ?>) message.any("properties") : Collections.emptyMap(),
            message.textOrNull("keys"), message.textOrNull("tags"),
            message.has("delay_level") ? (Integer) message.integer("delay_level", 0) : null,
            message.integer("flag", 0), message.integer("body_bytes", 2), message.integer("padding", 0),
            message.integer("batch", 0));
    }

    @Override
    public int thread() {
        return thread;
    }

    @Override
    public void run(Run run, Place place) {
        run.senders.on(thread, () -> {
            long beganMs = run.scheduler.nowMs();
            for (int i = 0; i < count; i++) {
                run.scheduler.sleepUntil(beganMs + i * everyMs);
                once(run, count == 1 ? place : place.repetition(i));
            }
        });
    }

    private void once(Run run, Place place) {
        VirtualThread sender = run.scheduler.running();
        AsyncSend async = mode == Send.Mode.ASYNC ? new AsyncSend(run, place) : null;
        Send send = new Send(mode, queueBroker, queueId, selector, timeoutMs, content, showsRequests, async,
            run.scheduler.nowMs());
        if (async != null) {
            async.begin(send);
        }
        Throwable thrown = null;
        try {
            run.producer().send(send);
        } catch (Failure | ScriptOver hostEnds) {
            throw hostEnds;
        } catch (Throwable e) {
            thrown = e;
        }
        if (async != null) {
            async.returned(thrown);
        } else {
            answer(run, place, send, thrown, sender);
        }
    }

    private static void answer(Run run, Place place, Send send, Throwable thrown, VirtualThread sender) {
        StringBuilder out = run.lines.begin(place, "send");
        if (thrown == null) {
            SendAnswer.appendResult(out, send, send.result, run.scheduler.nowMs());
        } else {
            SendAnswer.appendException(out, send, thrown, run.scheduler.nowMs());
        }
        out.append('}');
        run.lines.end(run.client, sender);
    }
}
