package rocketdiff.simulation.rewriting;

import org.objectweb.asm.Type;
import rocketdiff.simulation.standins.VirtualTimer;

/** The one type of the JDK that is replaced wherever it is named: a subclass of Timer cannot but start its thread. */
final class Renamed {
    private static final String TIMER = "java/util/Timer";
    private static final String VIRTUAL = Type.getInternalName(VirtualTimer.class);

    private Renamed() {
    }

    static String type(String internalName) {
        return internalName.equals(TIMER) ? VIRTUAL : internalName;
    }

    static String descriptor(String descriptor) {
        return descriptor.replace('L' + TIMER + ';', 'L' + VIRTUAL + ';');
    }

    /** Values of a stack map. */
    static Object[] values(Object[] values) {
        Object[] renamed = values == null ? null : values.clone();
        for (int i = 0; renamed != null && i < renamed.length; i++) {
            if (renamed[i] instanceof String) {
                renamed[i] = type((String) renamed[i]);
            }
        }
        return renamed;
    }
}
