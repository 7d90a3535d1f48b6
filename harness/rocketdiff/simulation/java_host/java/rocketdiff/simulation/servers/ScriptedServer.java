package rocketdiff.simulation.servers;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import rocketdiff.simulation.scheduler.Scheduler;

/** A broker or the name server as a script has it: what it answers, and whether it is paused or dead. */
public final class ScriptedServer {
    public final String name;
    public final String address;
    private final Scheduler scheduler;
    private List<Answer> answers = Collections.singletonList(Answer.AT_ONCE);
    private int turn;
    private boolean paused;
    private boolean dead;
    private final List<Consumer<Fault>> listeners = new ArrayList<>();
    private final List<Runnable> newsListeners = new ArrayList<>();
    private List<Runnable> heldBack = new ArrayList<>();

    ScriptedServer(Scheduler scheduler, String name, String address) {
        this.scheduler = scheduler;
        this.name = name;
        this.address = address;
    }

    /** From now on these answers, taken in turn by requests to send. */
    public void answer(List<Answer> scripted) {
        answers = scripted;
        turn = 0;
        if (current().fault == Fault.REFUSED) {
            befall(Fault.RESET);
        }
        news();
    }

    /** What the next request to send will get. */
    public Answer current() {
        return answers.get(turn);
    }

    /** The current answer, used up by a request to send; the list goes round and round. */
    public Answer take() {
        Answer answer = answers.get(turn);
        turn = (turn + 1) % answers.size();
        return answer;
    }

    /** Whether connects are refused now. */
    public boolean refuses() {
        return dead || current().fault == Fault.REFUSED;
    }

    public boolean isDead() {
        return dead;
    }

    public void pause() {
        paused = true;
    }

    /** What was held back goes on, in its order. */
    public void resume() {
        paused = false;
        List<Runnable> held = heldBack;
        heldBack = new ArrayList<>();
        held.forEach(Runnable::run);
    }

    /** The process ends: nothing held back is ever answered. */
    public void kill() {
        dead = true;
        paused = false;
        heldBack.clear();
        befall(Fault.RESET);
        news();
    }

    /** What the broker does to its connections from its side: whoever has some listens. */
    public void closeConnections() {
        befall(Fault.FIN);
    }

    /** Someone with connections to this server, to be told when they break. */
    public void onBreak(Consumer<Fault> listener) {
        listeners.add(listener);
    }

    /** Someone with connects that hang, to be told when the server may think otherwise of them. */
    public void onNews(Runnable listener) {
        newsListeners.add(listener);
    }

    private void news() {
        newsListeners.forEach(Runnable::run);
    }

    private void befall(Fault fault) {
        listeners.forEach(listener -> listener.accept(fault));
    }

    public void restart() {
        dead = false;
    }

    /**
     * A request has arrived whole. Its answer is chosen when the server reads it: now, or when a paused one goes on.
     *
     * <p>Requests of other kinds than sending use up no answer, and are spared codes and broken connections; the name
     * server's code is for whatever it is asked.
     */
    public void arrive(boolean isSend, Reply reply) {
        if (paused) {
            heldBack.add(() -> arrive(isSend, reply));
            return;
        }
        Answer answer = isSend ? take() : current();
        boolean breaks = answer.fault == Fault.RESET || answer.fault == Fault.FIN;
        if (answer.fault == null) {
            int code = isSend || name == null ? answer.code : 0;
            scheduler.after(answer.latencyMs, () -> deliver(code, reply));
        } else if (isSend && (breaks || answer.fault == Fault.REFUSED)) {
            scheduler.after(0, () -> reply.broken(answer.fault == Fault.FIN ? Fault.FIN : Fault.RESET));
        } else if (breaks) {
            scheduler.after(0, () -> deliver(0, reply));
        }
    }

    /** Does something of its own accord: a paused server when it goes on, a dead one never. */
    public void whenAwake(Runnable action) {
        if (paused) {
            heldBack.add(() -> whenAwake(action));
        } else if (!dead) {
            action.run();
        }
    }

    private void deliver(int code, Reply reply) {
        if (paused) {
            heldBack.add(() -> deliver(code, reply));
        } else if (!dead) {
            reply.answered(code);
        }
    }
}
