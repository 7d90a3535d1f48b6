package rocketdiff.simulation.remoting;

import java.lang.reflect.Method;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.sending.Attempt;

/** What a ResponseFuture tells of an async request, where callbacks are told no more than that. */
final class ResponseFutures {
    private final boolean all;
    private final Method response;
    private final Method wasWritten;
    private final Method isTimeout;

    ResponseFutures(Release release) {
        all = Members.methodOrNull(release.type("remoting.InvokeCallback"), "operationSucceed", 1) == null;
        Class<?> future = release.type("remoting.netty.ResponseFuture");
        response = Members.method(future, "getResponseCommand", 0);
        wasWritten = Members.method(future, "isSendRequestOK", 0);
        isTimeout = Members.method(future, "isTimeout", 0);
    }

    /** Whether callbacks hear of nothing but the future (later releases also tell of success and failure). */
    boolean areAllThatIsTold() {
        return all;
    }

    void note(Attempt attempt, Object future, Protocol protocol, long nowMs) {
        Object answer = Members.must(response, future);
        if (answer != null) {
            attempt.answered(protocol.code(answer), nowMs);
        } else if (!(Boolean) Members.must(wasWritten, future)) {
            attempt.ended("reset", nowMs);
        } else {
            attempt.ended((Boolean) Members.must(isTimeout, future) ? "timeout" : "unknown", nowMs);
        }
    }
}
