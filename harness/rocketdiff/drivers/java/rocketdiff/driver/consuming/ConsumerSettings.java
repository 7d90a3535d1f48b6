package rocketdiff.driver.consuming;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;

/**
 * Settings of a consumer by their setters, called by name: some releases lack or spell one differently, and enums move
 * between packages.
 */
final class ConsumerSettings {
    private static final Map<String, String[]> SETTERS = new LinkedHashMap<>();
    private static final Map<String, String> PROPERTIES = new LinkedHashMap<>();
    /** Settings that some releases lack. */
    private static final List<String> OPTIONAL = Arrays.asList("pull_threshold_size_for_queue_mib",
        "pull_threshold_for_topic", "pull_threshold_size_for_topic_mib", "pull_time_delay_when_exception_ms",
        "await_termination_ms");

    static {
        setter("consume_timestamp", "setConsumeTimestamp");
        setter("consume_thread_min", "setConsumeThreadMin");
        setter("consume_thread_max", "setConsumeThreadMax");
        setter("consume_message_batch_max_size", "setConsumeMessageBatchMaxSize");
        setter("pull_batch_size", "setPullBatchSize");
        setter("pull_interval_ms", "setPullInterval");
        setter("pull_threshold_for_queue", "setPullThresholdForQueue");
        setter("consume_concurrently_max_span", "setConsumeConcurrentlyMaxSpan", "setConsumeMaxSpan");
        setter("pull_threshold_size_for_queue_mib", "setPullThresholdSizeForQueue");
        setter("pull_threshold_for_topic", "setPullThresholdForTopic");
        setter("pull_threshold_size_for_topic_mib", "setPullThresholdSizeForTopic");
        setter("max_reconsume_times", "setMaxReconsumeTimes");
        setter("suspend_current_queue_time_ms", "setSuspendCurrentQueueTimeMillis");
        setter("consume_timeout_min", "setConsumeTimeout");
        setter("persist_consumer_offset_interval_ms", "setPersistConsumerOffsetInterval");
        setter("heartbeat_broker_interval_ms", "setHeartbeatBrokerInterval");
        // 4.0.0-incubating spells it "Inteval".
        setter("poll_name_server_interval_ms", "setPollNameServerInterval", "setPollNameServerInteval");
        setter("pull_time_delay_when_exception_ms", "setPullTimeDelayMillsWhenException");
        setter("await_termination_ms", "setAwaitTerminationMillisWhenShutdown");
        setter("auto_commit_interval_ms", "setAutoCommitIntervalMillis");
        setter("poll_timeout_ms", "setPollTimeoutMillis");
        setter("pull_threshold_for_all", "setPullThresholdForAll");
        setter("pull_thread_nums", "setPullThreadNums");
        PROPERTIES.put("rebalance_wait_interval_ms", "rocketmq.client.rebalance.waitInterval");
        PROPERTIES.put("rebalance_min_interval_ms", "rocketmq.client.rebalance.minInterval");
        PROPERTIES.put("lock_interval_ms", "rocketmq.client.rebalance.lockInterval");
        PROPERTIES.put("lock_max_live_time_ms", "rocketmq.client.rebalance.lockMaxLiveTime");
    }

    private ConsumerSettings() {
    }

    private static void setter(String name, String... spellings) {
        SETTERS.put(name, spellings);
    }

    /** Names of the settings that some releases lack and this client has. */
    static List<String> optional() {
        List<String> names = new ArrayList<>();
        for (String name : OPTIONAL) {
            if (method(DefaultMQPushConsumer.class, SETTERS.get(name)) != null) {
                names.add(name);
            }
        }
        return names;
    }

    /** System properties that the client's classes read when they are loaded: no consumer may exist yet. */
    static void setProperties(Map<String, Object> properties) {
        for (Map.Entry<String, Object> each : properties.entrySet()) {
            String name = PROPERTIES.get(each.getKey());
            if (name == null) {
                System.err.println("this driver knows no property " + each.getKey() + "; left out");
            } else {
                System.setProperty(name, String.valueOf(each.getValue()));
            }
        }
    }

    /** A folder below the working folder, which is the member's own: the default is in the user's home. */
    static void keepOffsetsIn(String folder) {
        System.setProperty("rocketmq.client.localOffsetStoreDir", new File(folder).getAbsolutePath());
    }

    /** Applies what the runner named and the client has; says on stderr what it has not. */
    static void apply(ClientConfig consumer, Map<String, Object> settings) {
        for (Map.Entry<String, Object> each : settings.entrySet()) {
            if (each.getKey().equals("consume_from_where")) {
                startFrom(consumer, (String) each.getValue());
                continue;
            }
            String[] spellings = SETTERS.get(each.getKey());
            Method setter = spellings == null ? null : method(consumer.getClass(), spellings);
            if (setter == null) {
                System.err.println("this client has no setting " + each.getKey() + "; left out");
            } else {
                call(consumer, setter, each.getValue());
            }
        }
    }

    /** first, last or timestamp. */
    static void startFrom(ClientConfig consumer, String where) {
        String end = where.equals("timestamp") ? "TIMESTAMP" : where.toUpperCase(Locale.ROOT) + "_OFFSET";
        callEnum(consumer, "setConsumeFromWhere", "CONSUME_FROM_" + end);
    }

    /** clustering or broadcasting. */
    static void model(ClientConfig consumer, String model) {
        callEnum(consumer, "setMessageModel", model.toUpperCase(Locale.ROOT));
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void callEnum(ClientConfig consumer, String name, String constant) {
        Method setter = method(consumer.getClass(), name);
        call(consumer, setter, Enum.valueOf((Class) setter.getParameterTypes()[0], constant));
    }

    private static void call(ClientConfig consumer, Method setter, Object value) {
        boolean isInt = setter.getParameterTypes()[0] == int.class;
        try {
            setter.invoke(consumer, isInt ? (Object) Math.toIntExact((Long) value) : value);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("cannot call " + setter.getName(), e);
        }
    }

    private static Method method(Class<?> type, String... spellings) {
        for (String spelling : spellings) {
            for (Method method : type.getMethods()) {
                if (method.getName().equals(spelling) && method.getParameterTypes().length == 1) {
                    return method;
                }
            }
        }
        return null;
    }
}
