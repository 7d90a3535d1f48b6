package rocketdiff.simulation.rewriting;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;

/** Superclasses and interfaces by name, of a release's classes without loading them, of the JDK's by reflection. */
final class Hierarchy {
    /** Where a release's class files are. */
    interface Source {
        /** The bytes of a class, or null where there is none of this name. */
        byte[] bytes(String internalName);
    }

    private static final Map<String, List<String>> JDK = new HashMap<>();

    private final Source source;
    private final Map<String, List<String>> known = new HashMap<>();

    Hierarchy(Source source) {
        this.source = source;
    }

    /** The class itself and all it inherits from, nearest first. */
    List<String> lineage(String owner) {
        if (owner.startsWith("java/")) {
            return JDK.computeIfAbsent(owner, Hierarchy::ofJdk);
        }
        List<String> lineage = known.get(owner);
        if (lineage == null) {
            lineage = ofRelease(owner);
            known.put(owner, lineage);
        }
        return lineage;
    }

    private List<String> ofRelease(String owner) {
        List<String> lineage = new ArrayList<>();
        lineage.add(owner);
        byte[] bytes = source.bytes(owner);
        if (bytes != null) {
            ClassReader reader = new ClassReader(bytes);
            if (reader.getSuperName() != null) {
                lineage.addAll(lineage(reader.getSuperName()));
            }
            for (String parent : reader.getInterfaces()) {
                lineage.addAll(lineage(parent));
            }
        }
        return lineage;
    }

    private static List<String> ofJdk(String owner) {
        Set<String> lineage = new LinkedHashSet<>();
        try {
            collect(Class.forName(owner.replace('/', '.'), false, null), lineage);
        } catch (ClassNotFoundException e) {
            lineage.add(owner);
        }
        return new ArrayList<>(lineage);
    }

    private static void collect(Class<?> type, Set<String> lineage) {
        if (type == null) {
            return;
        }
        lineage.add(type.getName().replace('.', '/'));
        collect(type.getSuperclass(), lineage);
        for (Class<?> parent : type.getInterfaces()) {
            collect(parent, lineage);
        }
    }
}
