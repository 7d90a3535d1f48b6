package rocketdiff.driver.sending;

import java.lang.reflect.InvocationTargetException;
import java.util.function.Function;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Sees every request of an asynchronous send as it is written, its retries included, of which SendMessageHook is silent.
 *
 * <p>The header's class moves between packages and its fields have no names: its getters are called by reflection.
 */
final class RequestHook implements RPCHook {
    private static final int SEND_MESSAGE = 10;
    private static final int SEND_MESSAGE_V2 = 310;
    private static final char NAME_VALUE_SEPARATOR = 1;
    private static final char PROPERTY_SEPARATOR = 2;

    private final AsyncSends sends;
    private volatile Function<String, String> brokerOf = address -> null;

    RequestHook(AsyncSends sends) {
        this.sends = sends;
    }

    /** How a broker's name is found by its address, once there is a route. */
    void brokersBy(Function<String, String> brokerOf) {
        this.brokerOf = brokerOf;
    }

    @Override
    public void doBeforeRequest(String address, RemotingCommand request) {
        long nowNs = System.nanoTime();
        boolean isShort = request.getCode() == SEND_MESSAGE_V2;
        if (!isShort && request.getCode() != SEND_MESSAGE) {
            return;
        }
        Object header = request.readCustomHeader();
        AsyncSend send = sends.of(idIn((String) get(header, isShort ? "getI" : "getProperties")));
        if (send != null) {
            String broker = brokerOf.apply(address);
            int queueId = (Integer) get(header, isShort ? "getE" : "getQueueId");
            send.requested(broker == null ? address : broker, queueId, sends.chooser(send), nowNs);
        }
    }

    @Override
    public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
        // The callback tells.
    }

    private static String idIn(String properties) {
        String name = Messages.ID_PROPERTY + NAME_VALUE_SEPARATOR;
        int start = properties == null ? -1 : properties.indexOf(name);
        if (start < 0) {
            return null;
        }
        int end = properties.indexOf(PROPERTY_SEPARATOR, start);
        return properties.substring(start + name.length(), end < 0 ? properties.length() : end);
    }

    private static Object get(Object header, String getter) {
        try {
            return header.getClass().getMethod(getter).invoke(header);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("this client's header of a send has no " + getter, e);
        }
    }
}
