package rocketdiff.simulation.rewriting;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The classes of one release from its own jars, before any of the host's; those of RocketMQ rewritten for virtual time.
 *
 * <p>Loads as a URLClassLoader would, but from jars that are opened once for all releases.
 */
public final class ReleaseLoader extends ClassLoader {
    private static final String HOST = "rocketdiff.simulation.";
    private static final Rules RULES = new Rules();

    static {
        registerAsParallelCapable();
    }

    private final List<String> paths;
    private final List<JarFile> jars = new ArrayList<>();
    private final Judge judge;

    public ReleaseLoader(List<String> classPath, JarShelf shelf) throws IOException {
        super(ReleaseLoader.class.getClassLoader());
        this.paths = classPath;
        for (String path : classPath) {
            jars.add(shelf.jar(path));
        }
        this.judge = new Judge(RULES, new Hierarchy(this::classFile));
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            if (name.startsWith("java.") || name.startsWith(HOST)) {
                return super.loadClass(name, resolve);
            }
            byte[] bytes = classFile(name.replace('.', '/'));
            return bytes == null ? super.loadClass(name, resolve) : define(name, bytes);
        }
    }

    private Class<?> define(String name, byte[] original) {
        byte[] bytes = isRewritten(name) ? ClassRewriter.rewritten(original, judge) : original;
        int end = name.lastIndexOf('.');
        String packageName = end < 0 ? "" : name.substring(0, end);
        if (getPackage(packageName) == null) {
            definePackage(packageName, null, null, null, null, null, null, null);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    private static boolean isRewritten(String name) {
        return name.startsWith("org.apache.rocketmq.") || name.startsWith("com.google.common.base.Stopwatch");
    }

    private byte[] classFile(String internalName) {
        try {
            return read(internalName + ".class");
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + internalName, e);
        }
    }

    private byte[] read(String entryName) throws IOException {
        for (JarFile jar : jars) {
            JarEntry entry = jar.getJarEntry(entryName);
            if (entry != null) {
                try (InputStream in = jar.getInputStream(entry)) {
                    return bytes(in, (int) entry.getSize());
                }
            }
        }
        return null;
    }

    private static byte[] bytes(InputStream in, int size) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream(Math.max(size, 32));
        byte[] buffer = new byte[8192];
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            out.write(buffer, 0, count);
        }
        return out.toByteArray();
    }

    @Override
    protected URL findResource(String name) {
        Enumeration<URL> found = findResources(name);
        return found.hasMoreElements() ? found.nextElement() : null;
    }

    @Override
    public URL getResource(String name) {
        URL own = findResource(name);
        return own == null ? super.getResource(name) : own;
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        List<URL> urls = new ArrayList<>();
        for (int i = 0; i < jars.size(); i++) {
            if (jars.get(i).getEntry(name) != null) {
                urls.add(url(paths.get(i), name));
            }
        }
        return Collections.enumeration(urls);
    }

    private static URL url(String path, String name) {
        try {
            return new URL("jar:" + new File(path).toURI() + "!/" + name);
        } catch (MalformedURLException e) {
            throw new IllegalStateException("no address for " + name + " in " + path, e);
        }
    }
}
