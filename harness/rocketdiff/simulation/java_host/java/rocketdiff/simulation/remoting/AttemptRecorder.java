package rocketdiff.simulation.remoting;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletionException;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.sending.Attempt;
import rocketdiff.simulation.sending.Attempts;

/** Stands before the real RemotingClient, hands every call on to it, and notes what becomes of requests to send. */
final class AttemptRecorder implements InvocationHandler {
    private final Object real;
    private final Protocol protocol;
    private final Attempts attempts;
    private final ClassLoader loader;
    private final Class<?>[] invokeCallback;
    private final ResponseFutures futures;

    AttemptRecorder(Object real, Release release, Attempts attempts) {
        this.real = real;
        this.protocol = release.protocol();
        this.attempts = attempts;
        this.loader = release.loader;
        this.invokeCallback = new Class<?>[] {release.type("remoting.InvokeCallback")};
        this.futures = new ResponseFutures(release);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        boolean mayBeAttempt = method.getName().startsWith("invoke") && arguments.length >= 3;
        Attempt attempt =
            mayBeAttempt ? attempts.begin((String) arguments[0], arguments[1], (Long) arguments[2]) : null;
        return attempt == null ? Members.call(method, real, arguments) : attempted(attempt, method, arguments);
    }

    private Object attempted(Attempt attempt, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("invokeAsync")) {
            arguments[3] = Proxy.newProxyInstance(loader, invokeCallback, new Reported(attempt, arguments[3]));
        }
        VirtualThread thread = Scheduler.current().running();
        Object errand = thread.errand;
        thread.errand = attempt;
        try {
            Object response = Members.call(method, real, arguments);
            if (method.getName().equals("invokeSync")) {
                attempt.answered(protocol.code(response), Scheduler.current().nowMs());
            } else if (method.getName().equals("invokeOneway")) {
                attempt.ended("written", Scheduler.current().nowMs());
            }
            return response;
        } catch (Failure hostEnds) {
            throw hostEnds;
        } catch (Exception e) {
            attempt.failed(e, Scheduler.current().nowMs());
            throw e;
        } finally {
            thread.errand = errand;
        }
    }

    /** The callback of an async request: the first report of its end is what became of the attempt. */
    private final class Reported implements InvocationHandler {
        private final Attempt attempt;
        private final Object callback;

        Reported(Attempt attempt, Object callback) {
            this.attempt = attempt;
            this.callback = callback;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (attempt.isOpen()) {
                note(method.getName(), arguments);
            }
            return Members.call(method, callback, arguments);
        }

        private void note(String reported, Object[] arguments) {
            long nowMs = Scheduler.current().nowMs();
            if (reported.equals("operationSucceed")) {
                attempt.answered(protocol.code(arguments[0]), nowMs);
            } else if (reported.equals("operationFail")) {
                attempt.failed(unwrapped((Throwable) arguments[0]), nowMs);
            } else if (reported.equals("operationComplete") && futures.areAllThatIsTold()) {
                futures.note(attempt, arguments[0], protocol, nowMs);
            }
        }

        private Throwable unwrapped(Throwable thrown) {
            return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        }
    }
}
