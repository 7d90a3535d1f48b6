package rocketdiff.simulation.servers;

import java.util.HashMap;
import java.util.Map;
import rocketdiff.simulation.scheduler.Failure;

/** Response codes by the names scripts use; those that a release may lack are numbers all the same. */
public final class Codes {
    private static final Map<String, Integer> BY_NAME = new HashMap<>();

    static {
        String known = "SUCCESS 0 SEND_OK 0 SYSTEM_ERROR 1 SYSTEM_BUSY 2 REQUEST_CODE_NOT_SUPPORTED 3"
            + " FLUSH_DISK_TIMEOUT 10 SLAVE_NOT_AVAILABLE 11 FLUSH_SLAVE_TIMEOUT 12 MESSAGE_ILLEGAL 13"
            + " SERVICE_NOT_AVAILABLE 14 VERSION_NOT_SUPPORTED 15 NO_PERMISSION 16 TOPIC_NOT_EXIST 17"
            + " PULL_NOT_FOUND 19 PULL_RETRY_IMMEDIATELY 20 PULL_OFFSET_MOVED 21 QUERY_NOT_FOUND 22"
            + " SUBSCRIPTION_NOT_EXIST 24 SUBSCRIPTION_GROUP_NOT_EXIST 26 INVALID_PARAMETER 29 NO_BUYER_ID 204"
            + " NOT_IN_CURRENT_UNIT 205 FLOW_CONTROL 215 GO_AWAY 1500";
        String[] words = known.split(" ");
        for (int i = 0; i < words.length; i += 2) {
            BY_NAME.put(words[i], Integer.valueOf(words[i + 1]));
        }
    }

    private Codes() {
    }

    public static int number(Object written) {
        if (written instanceof Long) {
            return Math.toIntExact((Long) written);
        }
        Integer known = BY_NAME.get(written);
        if (known != null) {
            return known;
        }
        try {
            return Integer.parseInt(String.valueOf(written));
        } catch (NumberFormatException e) {
            throw new Failure(Failure.SCRIPT, "not a response code: " + written);
        }
    }
}
