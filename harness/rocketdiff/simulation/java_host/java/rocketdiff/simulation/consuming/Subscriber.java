package rocketdiff.simulation.consuming;

import java.util.List;

/** A member that is started by its application and gets messages. */
public interface Subscriber extends Member {
    /** Starts it; what its start throws comes out as it is. */
    void join(Listening listening) throws Throwable;

    void leave();

    /** A broker refuses a kind of request with this code; null: it answers as usual. */
    void refuse(String broker, String asked, Integer code);

    /** Pull answers of a broker suggest a member of it. */
    void suggest(String broker, long id);

    /** The application's hook throws an Error at the next request of this kind. */
    void failHook(String asked);

    /** Another member holds the lock of a queue, or none. */
    void lockHolder(String broker, int queue, boolean isOther);

    /** Messages are stored into a queue of a broker; tag: null for none. */
    void store(String broker, int queue, long count, int bytes, String tag, boolean isTransactional, boolean isRetried);

    /** Name servers know the retry topic of the group from now on. */
    void knowRetryTopic();

    /** A broker reports that the ids of the group have changed. */
    void notified(String broker);

    /** A broker asks it to go on at an offset of queues, by their ids. */
    void reset(String broker, List<?> queues, long offset);

    /** Polls once; the answer has the time and the messages, as JSON. What the call throws comes out as it is. */
    String poll(long ms) throws Throwable;

    /** Commits what was polled; queues: of these alone, at once, broker and id of each in turn; null: of all. */
    String commitPolled(List<Object> queues) throws Throwable;

    /** Goes on at an offset of a queue; to: begin or end instead, else null. */
    String seek(String broker, int queue, long offset, String to) throws Throwable;

    /** Works on these queues from now on: broker and id of each in turn. */
    String assign(List<Object> queues) throws Throwable;

    /** Pauses the pulls of a queue, or resumes them. */
    String pauseQueue(String broker, int queue, boolean pauses) throws Throwable;
}
