package rocketdiff.simulation.remoting;

import java.lang.reflect.Method;
import rocketdiff.simulation.standins.Untreated;

/** What every stand-in answers to the methods of Object; any other method is one that nobody has thought of. */
final class Plain {
    private Plain() {
    }

    static Object answer(Object self, Method method, Object[] arguments, Object described) {
        switch (method.getName()) {
            case "hashCode":
                return System.identityHashCode(self);
            case "equals":
                return self == arguments[0];
            case "toString":
                return described.toString();
            default:
                Untreated.reached("Netty stand-in: " + method);
                return null;
        }
    }
}
