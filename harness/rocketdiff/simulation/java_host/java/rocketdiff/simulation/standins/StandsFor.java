package rocketdiff.simulation.standins;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says which class's calls the static methods of a class replace in rewritten code.
 *
 * <p>A method whose first parameter is that class replaces the instance method of its name and remaining parameters;
 * any other one replaces the static method of its name and parameters. A call through a subtype is replaced as well.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface StandsFor {
    Class<?> value();
}
