package rocketdiff.driver.sending;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** Settings whose setter some releases lack or spell differently: set where there is one, left alone elsewhere. */
final class OptionalSettings {
    private static final Map<String, String[]> SETTERS = new LinkedHashMap<>();

    static {
        // 4.0.0-incubating spells it "Inteval".
        SETTERS.put("poll_name_server_interval_ms",
            new String[] {"setPollNameServerInterval", "setPollNameServerInteval"});
        SETTERS.put("send_msg_max_timeout_per_request_ms", new String[] {"setSendMsgMaxTimeoutPerRequest"});
        SETTERS.put("vip_channel_enabled", new String[] {"setVipChannelEnabled"});
        SETTERS.put("start_detector_enable", new String[] {"setStartDetectorEnable"});
    }

    private OptionalSettings() {
    }

    /** Names of the settings this client has a setter for. */
    static List<String> known() {
        List<String> names = new ArrayList<>();
        for (String name : SETTERS.keySet()) {
            if (setter(name) != null) {
                names.add(name);
            }
        }
        return names;
    }

    /** Applies what the runner named and the client has; says on stderr what it has not. */
    static void apply(DefaultMQProducer producer, Map<String, Object> settings) {
        for (String name : SETTERS.keySet()) {
            Object value = settings.get(name);
            Method setter = value == null ? null : setter(name);
            if (setter != null) {
                set(producer, setter, value);
            } else if (value != null) {
                System.err.println("this client has no setting " + name + "; left out");
            }
        }
    }

    private static void set(DefaultMQProducer producer, Method setter, Object value) {
        boolean isInt = setter.getParameterTypes()[0] == int.class;
        try {
            setter.invoke(producer, isInt ? (Object) Math.toIntExact((Long) value) : value);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("cannot call " + setter.getName(), e);
        }
    }

    private static Method setter(String name) {
        for (String spelling : SETTERS.get(name)) {
            for (Method method : DefaultMQProducer.class.getMethods()) {
                if (method.getName().equals(spelling) && method.getParameterTypes().length == 1) {
                    return method;
                }
            }
        }
        return null;
    }
}
