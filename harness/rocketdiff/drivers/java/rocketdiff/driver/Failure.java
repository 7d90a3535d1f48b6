package rocketdiff.driver;

import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;

/** What a Throwable says about itself in a record. */
public final class Failure {
    private static final int MAX_MESSAGE_CHARACTERS = 500;

    private Failure() {
    }

    /** Simple class name, or null for no error. */
    public static String name(Throwable error) {
        return error == null ? null : error.getClass().getSimpleName();
    }

    /** RocketMQ's response code; null where there is none, which the client itself writes as -1. */
    public static Integer code(Throwable error) {
        int code = -1;
        if (error instanceof MQBrokerException) {
            code = ((MQBrokerException) error).getResponseCode();
        } else if (error instanceof MQClientException) {
            code = ((MQClientException) error).getResponseCode();
        }
        return code == -1 ? null : Integer.valueOf(code);
    }

    /** The message, cut to a length that keeps a line short. */
    public static String message(Throwable error) {
        String message = error == null ? null : error.getMessage();
        boolean isLong = message != null && message.length() > MAX_MESSAGE_CHARACTERS;
        return isLong ? message.substring(0, MAX_MESSAGE_CHARACTERS) : message;
    }

    /** The first cause of the chain. */
    public static Throwable deepest(Throwable error) {
        Throwable last = error;
        while (last.getCause() != null && last.getCause() != last) {
            last = last.getCause();
        }
        return last;
    }
}
