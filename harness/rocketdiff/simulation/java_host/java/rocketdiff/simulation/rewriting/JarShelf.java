package rocketdiff.simulation.rewriting;

import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarFile;

/** Jars opened once for all releases: most are shared, and 39 class paths name some thousand files. */
public final class JarShelf {
    private final Map<String, JarFile> open = new HashMap<>();

    JarFile jar(String path) throws IOException {
        JarFile jar = open.get(path);
        if (jar == null) {
            jar = new JarFile(new File(path), false);
            open.put(path, jar);
        }
        return jar;
    }
}
