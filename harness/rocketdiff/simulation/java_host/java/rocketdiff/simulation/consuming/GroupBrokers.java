package rocketdiff.simulation.consuming;

import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.ApplicationError;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.ScriptedServer;

/** Small brokers: queues with messages, offsets and ids of the group, and pulls that they hold. */
public final class GroupBrokers {
    /** The client's own id in lists, from its address and its instance name, both `own`. */
    static final String OWN_ID = "own@own";

    public static final String RETRY_TOPIC = "%RETRY%" + AllocationClient.GROUP;

    private static final int PULL = 11;
    private static final int QUERY_OFFSET = 14;
    private static final int UPDATE_OFFSET = 15;
    private static final int MAX_OFFSET = 30;
    private static final int MIN_OFFSET = 31;
    private static final int RESET_OFFSET = 220;
    private static final int LITE_PULL = 361;
    private static final int HEARTBEAT = 34;
    private static final int UNREGISTER = 35;
    private static final int SEND_BACK = 36;
    private static final int CONSUMER_IDS = 38;
    private static final int NOTIFY_IDS_CHANGED = 40;
    private static final int LOCK = 41;
    private static final int UNLOCK = 42;
    private static final Pattern QUEUE_ID = Pattern.compile("\"queueId\":([0-9]+)");
    private static final int SYSTEM_ERROR = 1;
    private static final int PULL_NOT_FOUND = 19;
    private static final int PULL_OFFSET_MOVED = 21;
    private static final int QUERY_NOT_FOUND = 22;
    private static final int COMMITS = 1;
    private static final long LOOK_MS = 5_000;
    /** Apart on the disk of a broker, so that a send-back names its message. */
    private static final long QUEUE_BYTES = 1_000_000;

    public final Group group = new Group();
    /** Whether name servers know the retry topic of the group. */
    public boolean knowsRetryTopic;
    /** The kind of request at which the application's hook throws next; null: none. */
    String failsHook;
    /** The client's own id, when it is known. */
    String ownId = OWN_ID;
    /** How a request of a broker, made when it arrives, gets to the client on each of its connections. */
    public BiConsumer<ScriptedServer, Supplier<Object>> asks = (server, request) -> { };
    /** After the client's shutdown: Netty's threads have ended, and nothing connects any more. */
    public Runnable onLeave = () -> { };
    /** Before a client's start that follows another one's shutdown. */
    public Runnable onReturn = () -> { };
    private final Release release;
    private final Protocol protocol;
    private final Map<String, List<byte[]>> stored = new HashMap<>();
    private final List<Held> held = new ArrayList<>();
    private final Map<String, Integer> refused = new HashMap<>();
    private final Map<String, Long> suggested = new HashMap<>();
    /** Queues whose locks another member holds. */
    final Set<String> lockedByOthers = new HashSet<>();

    public GroupBrokers(Release release) {
        this.release = release;
        this.protocol = release.protocol();
    }

    /** Where a response goes; it is made when it arrives. */
    public interface Respond {
        void with(Supplier<Object> response);
    }

    /** A pull that waits for messages. */
    private static final class Held {
        final ScriptedServer server;
        final Object request;
        final Respond respond;

        Held(ScriptedServer server, Object request, Respond respond) {
            this.server = server;
            this.request = request;
            this.respond = respond;
        }
    }

    /** Stores messages into a queue; pulls that wait for them are answered. */
    void store(
        ScriptedServer server, int queue, long count, int bytes, String tag, boolean isTransactional, boolean isRetried) {
        List<byte[]> messages = messages(server.name + "/" + queue);
        for (long n = 0; n < count; n++) {
            messages.add(encoded(server, queue, messages.size(), bytes, tag, isTransactional, isRetried));
        }
        for (Held each : new ArrayList<>(held)) {
            if (each.server == server && queue(server, each.request).equals(server.name + "/" + queue)) {
                server.whenAwake(() -> release(each));
            }
        }
    }

    /** A broker reports on every connection that the ids of the group have changed. */
    void notifyIdsChanged(ScriptedServer server) {
        server.whenAwake(() -> asks.accept(
            server, () -> protocol.oneWay(NOTIFY_IDS_CHANGED, "consumerGroup", AllocationClient.GROUP)));
    }

    /** A broker asks on every connection to go on at an offset of queues. */
    void reset(ScriptedServer server, List<?> queues, long offset) {
        server.whenAwake(() -> Scheduler.current().letLast(
            () -> asks.accept(server, () -> resetRequest(server.name, queues, offset))));
    }

    private Object resetRequest(String broker, List<?> queues, long offset) {
        Class<?> queue = release.type("common.message.MessageQueue");
        Class<?>[] parameters = {String.class, String.class, int.class};
        Map<Object, Long> offsets = new HashMap<>();
        for (Object id : queues) {
            offsets.put(Members.make(queue, parameters, AllocationClient.TOPIC, broker, ((Long) id).intValue()), offset);
        }
        Class<?> type = release.type("remoting.protocol.body.ResetOffsetBody", "common.protocol.body.ResetOffsetBody");
        Object body = Members.make(type, new Class<?>[0]);
        Members.must(Members.method(type, "setOffsetTable", 1), body, offsets);
        byte[] content = (byte[]) Members.must(Members.method(type, "encode", 0), body);
        Object request = protocol.oneWay(RESET_OFFSET, "group", AllocationClient.GROUP);
        protocol.extend(request, "topic", AllocationClient.TOPIC);
        protocol.extend(request, "timestamp", "0");
        protocol.extend(request, "isForce", "true");
        return protocol.withBody(request, content);
    }

    /** A broker answers a kind of request with this code from now on; null: as usual. */
    void refuse(String broker, String asked, Integer code) {
        if (code == null) {
            refused.remove(broker + " " + asked);
        } else {
            refused.put(broker + " " + asked, code);
        }
    }

    /** What the application's hook does before a request. */
    void hook(Object request) {
        int code = protocol.code(request);
        String kind = code == PULL ? "pull" : code == LOCK ? "lock" : code == QUERY_OFFSET ? "query" : null;
        if (kind != null && kind.equals(failsHook)) {
            failsHook = null;
            throw new ApplicationError("a hook throws");
        }
    }

    /** Pull answers of a broker suggest this id from now on. */
    void suggest(String broker, long id) {
        suggested.put(broker, id);
    }

    /** Responds with the code of a kind that is refused. */
    private boolean refuses(ScriptedServer server, String asked, Object request, Respond respond) {
        Integer code = refused.get(server.name + " " + asked);
        if (code != null) {
            respond.with(() -> protocol.response(request, code));
        }
        return code != null;
    }

    /** Answers a request that a broker has read; null: a request of another kind. */
    public boolean serve(ScriptedServer server, Object request, Respond respond) {
        if (protocol.isSend(request)) {
            note(protocol.sent(request, server.name));
            return false;
        }
        String queue = queue(server, request);
        switch (protocol.code(request)) {
            case HEARTBEAT:
                note("heartbeat " + server.name);
                respond.with(() -> protocol.response(request, 0));
                return true;
            case UNREGISTER:
                note("unregister " + server.name);
                respond.with(() -> protocol.response(request, 0));
                return true;
            case CONSUMER_IDS:
                note("ids " + server.name);
                List<String> ids = group.ids;
                respond.with(() -> ids(request, ids));
                return true;
            case QUERY_OFFSET:
                note("query " + queue);
                if (refuses(server, "query", request, respond)) {
                    return true;
                }
                Long committed = group.offsets.get(queue);
                respond.with(() -> committed == null
                    ? protocol.response(request, QUERY_NOT_FOUND) : offset(request, committed));
                return true;
            case MAX_OFFSET:
                note("max " + queue);
                if (refuses(server, "max", request, respond)) {
                    return true;
                }
                long end = messages(queue).size();
                respond.with(() -> offset(request, end));
                return true;
            case UPDATE_OFFSET:
                commit(queue, (Long) field(request, "commitOffset"));
                return true;
            case SEND_BACK:
                long at = (Long) field(request, "offset");
                note("back " + server.name + "/" + at / QUEUE_BYTES + " " + at % QUEUE_BYTES + " level "
                    + field(request, "delayLevel"));
                if (!refuses(server, "back", request, respond)) {
                    respond.with(() -> protocol.response(request, 0));
                }
                return true;
            case LOCK:
            case UNLOCK:
                lock(server, request, respond);
                return true;
            case MIN_OFFSET:
                note("min " + queue);
                if (!refuses(server, "min", request, respond)) {
                    respond.with(() -> offset(request, 0));
                }
                return true;
            case PULL:
            case LITE_PULL:
                pull(server, queue, request, respond);
                return true;
            default:
                return false;
        }
    }

    private void lock(ScriptedServer server, Object request, Respond respond) {
        TreeSet<Integer> asked = new TreeSet<>();
        Matcher found = QUEUE_ID.matcher(protocol.text(request));
        while (found.find()) {
            asked.add(Integer.valueOf(found.group(1)));
        }
        boolean locks = protocol.code(request) == LOCK;
        StringBuilder text = new StringBuilder(locks ? "lock " : "unlock ").append(server.name);
        StringBuilder locked = new StringBuilder("{\"lockOKMQSet\":[");
        for (int queue : asked) {
            text.append(' ').append(queue);
            if (!lockedByOthers.contains(server.name + "/" + queue)) {
                locked.append(locked.charAt(locked.length() - 1) == '[' ? "" : ",").append("{\"brokerName\":")
                    .append(JsonText.of(server.name)).append(",\"queueId\":").append(queue)
                    .append(",\"topic\":").append(JsonText.of(AllocationClient.TOPIC)).append('}');
            }
        }
        note(text.toString());
        if (!refuses(server, locks ? "lock" : "unlock", request, respond)) {
            byte[] body = locked.append("]}").toString().getBytes(StandardCharsets.UTF_8);
            respond.with(() -> locks ? protocol.response(request, 0, body) : protocol.response(request, 0));
        }
    }

    private void pull(ScriptedServer server, String queue, Object request, Respond respond) {
        boolean commits = ((Integer) field(request, "sysFlag") & COMMITS) != 0;
        long from = (Long) field(request, "queueOffset");
        Long commit = (Long) field(request, "commitOffset");
        note((protocol.code(request) == LITE_PULL ? "lite-pull " : "pull ") + queue + " " + from + (commits ? " commit " + commit : ""));
        if (refuses(server, "pull", request, respond)) {
            return;
        }
        if (commits) {
            group.offsets.put(queue, commit);
        }
        if (from == messages(queue).size()) {
            Held waiting = new Held(server, request, respond);
            held.add(waiting);
            long holdMs = (Long) field(request, "suspendTimeoutMillis");
            long due = (Scheduler.current().nowMs() + holdMs + LOOK_MS - 1) / LOOK_MS * LOOK_MS;
            Scheduler.current().at(due, () -> server.whenAwake(() -> release(waiting)));
        } else {
            answer(server, request, respond);
        }
    }

    private void release(Held waiting) {
        if (held.remove(waiting)) {
            answer(waiting.server, waiting.request, waiting.respond);
        }
    }

    private void answer(ScriptedServer server, Object request, Respond respond) {
        List<byte[]> messages = messages(queue(server, request));
        long from = (Long) field(request, "queueOffset");
        int end = messages.size();
        if (from < 0 || from > end) {
            respond.with(() -> pulled(server, request, PULL_OFFSET_MOVED, from < 0 ? 0 : end, end, null));
            return;
        }
        long next = Math.min(end, from + (Integer) field(request, "maxMsgNums"));
        byte[] body = joined(messages.subList((int) from, (int) next));
        respond.with(() -> pulled(server, request, next == from ? PULL_NOT_FOUND : 0, next, end, body));
    }

    private Object pulled(ScriptedServer server, Object request, int code, long next, long end, byte[] body) {
        Object answer = protocol.response(request, code, "suggestWhichBrokerId", suggested.getOrDefault(server.name, 0L).toString());
        protocol.extend(answer, "nextBeginOffset", String.valueOf(next));
        protocol.extend(answer, "minOffset", "0");
        protocol.extend(answer, "maxOffset", String.valueOf(end));
        return body == null || body.length == 0 ? answer : protocol.withBody(answer, body);
    }

    private void commit(String queue, Long offset) {
        note("commit " + queue + " " + offset);
        group.offsets.put(queue, offset);
    }

    private Object ids(Object request, List<String> ids) {
        if (ids == null) {
            return protocol.response(request, SYSTEM_ERROR);
        }
        StringBuilder body = new StringBuilder("{\"consumerIdList\":[");
        for (String id : ids) {
            body.append(body.charAt(body.length() - 1) == '[' ? "" : ",").append(JsonText.of(id.equals("own") ? ownId : id));
        }
        return protocol.response(request, 0, body.append("]}").toString().getBytes(StandardCharsets.UTF_8));
    }

    private Object offset(Object request, long value) {
        return protocol.response(request, 0, "offset", String.valueOf(value));
    }

    private List<byte[]> messages(String queue) {
        return stored.computeIfAbsent(queue, any -> new ArrayList<>());
    }

    /** Of requests about a queue; others have no such field. */
    private String queue(ScriptedServer server, Object request) {
        Object id = protocol.fieldOrNull(request, "queueId");
        return id == null ? server.name : server.name + "/" + id;
    }

    private Object field(Object request, String name) {
        return protocol.field(request, name);
    }

    private void note(String request) {
        group.note(Scheduler.current().nowMs(), request);
    }

    private byte[] encoded(
        ScriptedServer server, int queue, long offset, int bytes, String tag, boolean isTransactional, boolean isRetried) {
        Object message = ProcessQueueClasses.of(release).message(offset, bytes);
        Class<?> type = message.getClass();
        // Encoders need a body, if only an empty one, which decoders leave out.
        set(message, "setBody", new byte[bytes]);
        String[] address = server.address.split(":");
        Object host = new InetSocketAddress(address[0], Integer.parseInt(address[1]));
        set(message, "setTopic", isRetried ? "%RETRY%" + AllocationClient.GROUP : AllocationClient.TOPIC);
        Method put = Members.method(release.type("common.message.MessageAccessor"), "putProperty", 3);
        if (isRetried) {
            Members.must(put, null, message, "RETRY_TOPIC", AllocationClient.TOPIC);
        }
        if (tag != null) {
            set(message, "setTags", tag);
        }
        if (isTransactional) {
            Members.must(put, null, message, "TRAN_MSG", "true");
            Members.must(put, null, message, "UNIQ_KEY", String.valueOf(offset));
        }
        set(message, "setQueueId", queue);
        set(message, "setCommitLogOffset", queue * QUEUE_BYTES + offset);
        set(message, "setBornHost", host);
        set(message, "setStoreHost", host);
        Method encode = Members.method(
            release.type("common.message.MessageDecoder"), "encode", type, boolean.class);
        return (byte[]) Members.must(encode, null, message, false);
    }

    private static void set(Object message, String setter, Object value) {
        Members.must(Members.method(message.getClass(), setter, 1), message, value);
    }

    private static byte[] joined(List<byte[]> messages) {
        int size = 0;
        for (byte[] each : messages) {
            size += each.length;
        }
        byte[] body = new byte[size];
        int at = 0;
        for (byte[] each : messages) {
            System.arraycopy(each, 0, body, at, each.length);
            at += each.length;
        }
        return body;
    }
}
