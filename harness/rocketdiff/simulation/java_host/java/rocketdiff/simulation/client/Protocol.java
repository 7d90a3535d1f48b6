package rocketdiff.simulation.client;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests, responses and exceptions of a release's remoting, by reflection. */
public final class Protocol {
    public static final int GET_ROUTE = 105;
    /** A property of every message sent here: which send of the script it belongs to. */
    public static final String MARK = "simulated";
    private static final Pattern MARKED = Pattern.compile(MARK + "\u0001([0-9]+)");
    private static final Pattern DELAY = Pattern.compile("\u0002DELAY\u0001([0-9]+)");
    /** The bit of sysFlag that says that a message is the first half of a transaction. */
    private static final int PREPARED = 4;
    private static final int SUCCESS = 0;
    private static final int TOPIC_NOT_EXIST = 17;

    public final Class<?> command;
    private final Method code;
    private final Method opaque;
    private final Method setOpaque;
    private final Method header;
    private final Method requestOf;
    private final Method response;
    private final Method body;
    private final Method setBody;
    private final Method addExtField;
    private final Class<?> connectException;
    private final Class<?> timeoutException;
    private final Class<?> sendRequestException;
    private final Map<Class<?>, Header> headers = new HashMap<>();

    /** Where a header of sending keeps what attempts are told by; the short form's names are letters. */
    private static final class Header {
        final Field queueId;
        final Field properties;

        Header(Class<?> type) {
            boolean isShort = Members.fieldOrNull(type, "queueId") == null;
            queueId = Members.field(type, isShort ? "e" : "queueId");
            properties = Members.field(type, isShort ? "i" : "properties");
        }
    }

    Protocol(Release release) {
        command = release.type("remoting.protocol.RemotingCommand");
        code = Members.method(command, "getCode", 0);
        opaque = Members.method(command, "getOpaque", 0);
        setOpaque = Members.method(command, "setOpaque", 1);
        header = Members.method(command, "readCustomHeader", 0);
        response = Members.method(command, "createResponseCommand", int.class, String.class);
        requestOf = Members.method(command, "createRequestCommand", 2);
        body = Members.method(command, "getBody", 0);
        setBody = Members.method(command, "setBody", 1);
        addExtField = Members.method(command, "addExtField", 2);
        connectException = release.type("remoting.exception.RemotingConnectException");
        timeoutException = release.type("remoting.exception.RemotingTimeoutException");
        sendRequestException = release.type("remoting.exception.RemotingSendRequestException");
    }

    public int code(Object request) {
        return (Integer) Members.must(code, request);
    }

    /** Whether it is a request to send: SEND_MESSAGE, SEND_MESSAGE_V2 or SEND_BATCH_MESSAGE. */
    public boolean isSend(Object request) {
        int asked = code(request);
        return asked == 10 || asked == 310 || asked == 320;
    }

    /** The queue id in the header of a request to send. */
    public int queueId(Object request) {
        Object sent = Members.must(header, request);
        return (Integer) Members.get(header(sent).queueId, sent);
    }

    /** The mark of the message, or of the messages of a batch, in a request to send; null if no script sent it. */
    public String mark(Object request) {
        Object sent = Members.must(header, request);
        String properties = (String) Members.get(header(sent).properties, sent);
        Matcher found = MARKED.matcher(properties);
        if (found.find()) {
            return found.group(1);
        }
        byte[] batch = (byte[]) Members.must(body, request);
        found = MARKED.matcher(new String(batch, StandardCharsets.ISO_8859_1));
        return found.find() ? found.group(1) : null;
    }

    /** A request to send a failed message to the retry topic, as text: where to, and what redelivery depends on. */
    public String sent(Object request, String server) {
        Object sent = Members.must(header, request);
        boolean isShort = Members.fieldOrNull(sent.getClass(), "queueId") == null;
        String properties = "\u0002" + Members.get(header(sent).properties, sent) + "\u0002";
        Matcher delay = DELAY.matcher(properties);
        boolean isPrepared = ((Integer) Members.get(Members.field(sent.getClass(), isShort ? "f" : "sysFlag"), sent) & PREPARED) != 0;
        return "send " + server + "/" + queueId(request)
            + " times " + Members.get(Members.field(sent.getClass(), isShort ? "j" : "reconsumeTimes"), sent)
            + " of " + Members.get(Members.field(sent.getClass(), isShort ? "l" : "maxReconsumeTimes"), sent)
            + (delay.find() ? " level " + delay.group(1) : "")
            + (properties.contains("\u0002ORIGIN_MESSAGE_ID\u0001") ? " with its id" : "")
            + (isPrepared ? " prepared" : "");
    }

    private Header header(Object sent) {
        return headers.computeIfAbsent(sent.getClass(), Header::new);
    }

    /** A broker's response to a request to send, whatever its code. */
    public Object sendResponse(Object request, int responseCode) {
        Object answer = response(request, responseCode);
        Members.must(addExtField, answer, "msgId", "0A00000100002A9F0000000000000000");
        Members.must(addExtField, answer, "queueId", String.valueOf(queueId(request)));
        Members.must(addExtField, answer, "queueOffset", "0");
        return answer;
    }

    /** The name server's response to a question for a route; body null: it knows no such topic. */
    public Object routeResponse(Object request, byte[] body) {
        Object answer = response(request, body == null ? TOPIC_NOT_EXIST : SUCCESS);
        Members.must(setBody, answer, (Object) body);
        return answer;
    }

    /** The topic that a question for a route is about. */
    public String topic(Object request) {
        return (String) Members.get(Members.must(header, request), "topic");
    }

    /** A response without anything but its code. */
    public Object response(Object request, int responseCode) {
        Object answer = Members.must(response, null, responseCode, "scripted");
        Members.must(setOpaque, answer, Members.must(opaque, request));
        return answer;
    }

    /** A response with a body. */
    public Object response(Object request, int responseCode, byte[] content) {
        Object answer = response(request, responseCode);
        Members.must(setBody, answer, (Object) content);
        return answer;
    }

    /** A request of a server with one field, to which no answer comes. */
    public Object oneWay(int requestCode, String name, String value) {
        Object request = Members.must(requestOf, null, requestCode, null);
        Members.must(addExtField, request, name, value);
        Members.must(Members.method(command, "markOnewayRPC", 0), request);
        return request;
    }

    /** A response with a field in its header. */
    public Object response(Object request, int responseCode, String name, String value) {
        Object answer = response(request, responseCode);
        Members.must(addExtField, answer, name, value);
        return answer;
    }

    /** Adds a field to the header of a response. */
    public void extend(Object answer, String name, String value) {
        Members.must(addExtField, answer, name, value);
    }

    /** The body of a request, which is JSON. */
    public String text(Object request) {
        return new String((byte[]) Members.must(body, request), StandardCharsets.UTF_8);
    }

    public Object withBody(Object answer, byte[] content) {
        Members.must(setBody, answer, (Object) content);
        return answer;
    }

    /** Null if the header has no such field, or there is no header. */
    public Object fieldOrNull(Object request, String name) {
        Object of = headerOf(request);
        Field found = of == null ? null : Members.fieldOrNull(of.getClass(), name);
        return found == null ? null : Members.get(found, of);
    }

    /** A field of a request's header. */
    public Object field(Object request, String name) {
        return Members.get(headerOf(request), name);
    }

    private Object headerOf(Object request) {
        return Members.must(header, request);
    }

    public Throwable refused(String address) {
        return (Throwable) Members.make(connectException, new Class<?>[] {String.class}, address);
    }

    public Throwable timedOut(String address, long timeoutMs) {
        Class<?>[] parameters = {String.class, long.class};
        return (Throwable) Members.make(timeoutException, parameters, address, timeoutMs);
    }

    public Throwable broken(String address) {
        return (Throwable) Members.make(sendRequestException, new Class<?>[] {String.class}, address);
    }
}
