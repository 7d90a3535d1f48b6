package rocketdiff.simulation.consuming;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;

/** Where broadcasting members keep their files: a temporary folder that is empty at the start of each, and gone at the end. */
final class LocalOffsetFolder {
    private static final String PROPERTY = "rocketmq.client.localOffsetStoreDir";
    private static File folder;

    private LocalOffsetFolder() {
    }

    /** Before the client reads the property, which it does once. */
    static void empty() {
        if (folder == null) {
            try {
                folder = Files.createTempDirectory("offsets").toFile();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            System.setProperty(PROPERTY, folder.getPath());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
        }
        for (File each : folder.listFiles()) {
            remove(each);
        }
    }

    private static void remove(File file) {
        File[] inside = file.listFiles();
        if (inside != null) {
            for (File each : inside) {
                remove(each);
            }
        }
        file.delete();
    }
}
