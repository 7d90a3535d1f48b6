package rocketdiff.simulation.script;

import rocketdiff.simulation.sending.Send;
import rocketdiff.simulation.sending.SendAnswer;

/** One async send: a line for each call of its callback, one for an exception in its caller, or one for silence. */
final class AsyncSend implements Send.Callback {
    private final Run run;
    private final Place place;
    private Send send;
    private int callbacks;
    private boolean thrown;

    AsyncSend(Run run, Place place) {
        this.run = run;
        this.place = place;
    }

    void begin(Send begun) {
        send = begun;
        run.asyncSends.add(this);
    }

    /** The call has returned, or thrown to its caller. */
    void returned(Throwable exception) {
        if (exception != null) {
            thrown = true;
            SendAnswer.appendException(line(), send, exception, run.scheduler.nowMs());
            end();
        }
    }

    @Override
    public void succeeded(Object sendResult) {
        callbacks++;
        SendAnswer.appendResult(line(), send, sendResult, run.scheduler.nowMs());
        end();
    }

    @Override
    public void failed(Throwable cause) {
        callbacks++;
        SendAnswer.appendException(line(), send, cause, run.scheduler.nowMs());
        end();
    }

    boolean isOver() {
        return thrown || callbacks > 0;
    }

    /** Nothing ever came. */
    void giveUp() {
        SendAnswer.appendPending(line(), send);
        end();
    }

    private StringBuilder line() {
        return run.lines.begin(place, "send");
    }

    private void end() {
        if (callbacks > 1) {
            run.lines.out.append(", \"callback\": ").append(callbacks);
        }
        run.lines.out.append('}');
        run.lines.end(run.client, run.scheduler.running());
    }
}
