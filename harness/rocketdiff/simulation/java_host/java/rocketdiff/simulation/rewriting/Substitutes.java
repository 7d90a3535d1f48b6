package rocketdiff.simulation.rewriting;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.Type;
import rocketdiff.simulation.standins.CounterLocal;
import rocketdiff.simulation.standins.NoiseRandom;
import rocketdiff.simulation.standins.StandInThread;
import rocketdiff.simulation.standins.TapeRandom;
import rocketdiff.simulation.standins.VirtualPool;
import rocketdiff.simulation.standins.VirtualScheduledPool;

/** Which subclass of ours is made, or inherited from, where rewritten code would make, or inherit from, the JDK's. */
final class Substitutes {
    private static final String INDEX = "org/apache/rocketmq/client/common/ThreadLocalIndex";
    /** Only what these classes draw can be seen in a script's answers. */
    private static final String[] DRAWING = {
        INDEX, "org/apache/rocketmq/client/latency/", "org/apache/rocketmq/client/impl/factory/MQClientInstance",
        "org/apache/rocketmq/client/impl/producer/TopicPublishInfo", "org/apache/rocketmq/client/producer/selector/",
    };
    private static final Map<String, String> BY_NAME = new HashMap<>();

    static {
        BY_NAME.put("java/lang/Thread", Type.getInternalName(StandInThread.class));
        BY_NAME.put("java/util/Random", Type.getInternalName(NoiseRandom.class));
        BY_NAME.put("java/util/concurrent/ThreadPoolExecutor", Type.getInternalName(VirtualPool.class));
        BY_NAME.put("java/util/concurrent/ScheduledThreadPoolExecutor",
            Type.getInternalName(VirtualScheduledPool.class));
    }

    private Substitutes() {
    }

    /** The substitute of a type in a class; the type itself where there is none. */
    static String of(String type, String inClass) {
        if (type.equals("java/lang/ThreadLocal") && inClass.equals(INDEX)) {
            return Type.getInternalName(CounterLocal.class);
        }
        String substitute = BY_NAME.get(type);
        if (substitute == null) {
            return Renamed.type(type);
        }
        boolean draws = type.equals("java/util/Random") && isDrawing(inClass);
        return draws ? Type.getInternalName(TapeRandom.class) : substitute;
    }

    private static boolean isDrawing(String className) {
        for (String drawing : DRAWING) {
            if (className.startsWith(drawing)) {
                return true;
            }
        }
        return false;
    }
}
