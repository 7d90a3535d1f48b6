package rocketdiff.simulation.client;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The settings of a script, applied to a producer as far as it has a setter for them. */
public final class Settings {
    /** Setters that are not the setting's name in camel case; a second one is tried where there is no first. */
    private static final Map<String, String[]> SPELLINGS = new HashMap<>();

    static {
        SPELLINGS.put("send_msg_timeout_ms", new String[] {"setSendMsgTimeout"});
        SPELLINGS.put("retry_another_broker_when_not_store_ok", new String[] {"setRetryAnotherBrokerWhenNotStoreOK"});
        // 4.0.0-incubating spells it "Inteval".
        SPELLINGS.put("poll_name_server_interval_ms",
            new String[] {"setPollNameServerInterval", "setPollNameServerInteval"});
        SPELLINGS.put("heartbeat_broker_interval_ms", new String[] {"setHeartbeatBrokerInterval"});
        SPELLINGS.put("send_msg_max_timeout_per_request_ms", new String[] {"setSendMsgMaxTimeoutPerRequest"});
        SPELLINGS.put("detect_timeout_ms", new String[] {"setDetectTimeout"});
        SPELLINGS.put("detect_interval_ms", new String[] {"setDetectInterval"});
    }

    private Settings() {
    }

    public static void apply(Object producer, Map<String, Object> settings) {
        settings.forEach((name, value) -> {
            if (name.equals("added_retry_response_codes")) {
                addRetryCodes(producer, (List<?>) value);
            } else if (value != null) {
                set(producer, name, value);
            }
        });
    }

    private static void set(Object producer, String name, Object value) {
        for (String setter : SPELLINGS.getOrDefault(name, new String[] {"set" + camelCase(name)})) {
            Method method = Members.methodOrNull(producer.getClass(), setter, 1);
            if (method != null) {
                Members.must(method, producer, fitted(value, method.getParameterTypes()[0]));
                return;
            }
        }
    }

    private static void addRetryCodes(Object producer, List<?> codes) {
        Method add = Members.methodOrNull(producer.getClass(), "addRetryResponseCode", 1);
        for (Object code : codes) {
            if (add != null) {
                Members.must(add, producer, Math.toIntExact((Long) code));
            }
        }
    }

    private static Object fitted(Object value, Class<?> type) {
        return type == int.class ? (Object) Math.toIntExact((Long) value) : value;
    }

    private static String camelCase(String name) {
        StringBuilder out = new StringBuilder();
        for (String word : name.split("_")) {
            out.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
        }
        return out.toString();
    }
}
