package rocketdiff.simulation.sending;

import rocketdiff.simulation.json.JsonText;

/** One request to send, from the call of RemotingClient to the report of its end. */
public final class Attempt {
    private final String broker;
    private final int queueId;
    private final boolean vip;
    private final long timeoutMs;
    private final long beganMs;
    /** Null while the attempt is on its way. */
    private Long elapsedMs;
    private String outcome;
    private Integer code;
    /** The request as JSON; null where it is no part of the answer. */
    private final String request;

    /** broker null: the request went to a name server. */
    Attempt(String broker, int queueId, boolean vip, long timeoutMs, long beganMs, String request) {
        this.broker = broker;
        this.queueId = queueId;
        this.vip = vip;
        this.timeoutMs = timeoutMs;
        this.beganMs = beganMs;
        this.request = request;
    }

    public void ended(String how, long nowMs) {
        outcome = how;
        elapsedMs = nowMs - beganMs;
    }

    /** Whether nothing has been reported yet. */
    public boolean isOpen() {
        return outcome == null;
    }

    /** The broker answered with a response code. */
    public void answered(int responseCode, long nowMs) {
        switch (responseCode) {
            case 0:
                ended("ok", nowMs);
                break;
            case 10:
                ended("FLUSH_DISK_TIMEOUT", nowMs);
                break;
            case 11:
                ended("SLAVE_NOT_AVAILABLE", nowMs);
                break;
            case 12:
                ended("FLUSH_SLAVE_TIMEOUT", nowMs);
                break;
            default:
                ended("code", nowMs);
                code = responseCode;
        }
    }

    /** An exception came instead. */
    public void failed(Throwable cause, long nowMs) {
        ended(outcomeOf(cause.getClass().getSimpleName()), nowMs);
    }

    private static String outcomeOf(String exception) {
        switch (exception) {
            case "RemotingTimeoutException":
                return "timeout";
            case "RemotingConnectException":
                return "refused";
            case "RemotingSendRequestException":
                return "reset";
            case "RemotingTooMuchRequestException":
                return "too-much";
            default:
                return exception;
        }
    }

    void append(StringBuilder out) {
        out.append("{\"broker\": ");
        JsonText.append(out, broker);
        out.append(", \"queue_id\": ").append(queueId).append(", \"timeout_ms\": ").append(timeoutMs);
        out.append(", \"elapsed_ms\": ").append(elapsedMs).append(", \"outcome\": ");
        JsonText.append(out, outcome);
        if (code != null) {
            out.append(", \"code\": ").append(code);
        }
        if (vip) {
            out.append(", \"vip\": true");
        }
        if (request != null) {
            out.append(", \"request\": ").append(request);
        }
        out.append('}');
    }
}
