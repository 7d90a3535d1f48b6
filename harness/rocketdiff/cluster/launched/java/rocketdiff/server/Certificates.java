package rocketdiff.server;

import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.UUID;

/**
 * Makes a certificate authority and certificates for servers on this machine and their clients, by the JDK's own keytool in this very JVM.
 *
 * <p>Arguments: when the server's certificate begins to be valid, as keytool takes it (-1H, -10d), and for how many days. Prints PEM:
 * the authority's certificate, the server's, the server's key, the client's, the client's key. The keystore is gone, and its password with it, when the JVM ends.
 */
public final class Certificates {
    private static final String AUTHORITY = "authority";
    private static final String SERVER = "server";
    private static final String CLIENT = "client";

    private Certificates() {
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // keytool talks
        File store = new File(System.getProperty("java.io.tmpdir"), "rocketdiff-" + UUID.randomUUID() + ".p12");
        String password = UUID.randomUUID().toString();
        try {
            keytool(store, password, AUTHORITY, "-dname", "CN=rocketdiff authority", "-ext", "bc:critical=ca:true",
                "-ext", "ku:critical=keyCertSign", "-startdate", "-20d", "-validity", "50");
            keytool(store, password, SERVER, "-dname", "CN=rocketdiff server", "-ext", "san=ip:127.0.0.1,dns:localhost",
                "-signer", AUTHORITY, "-startdate", arguments[0], "-validity", arguments[1]);
            keytool(store, password, CLIENT, "-dname", "CN=rocketdiff client", "-signer", AUTHORITY, "-startdate", "-1H",
                "-validity", "30");
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream stored = new FileInputStream(store)) {
                keys.load(stored, password.toCharArray());
            }
            print(out, "CERTIFICATE", encoded(keys.getCertificate(AUTHORITY)));
            for (String owner : new String[] {SERVER, CLIENT}) {
                print(out, "CERTIFICATE", encoded(keys.getCertificate(owner)));
                print(out, "PRIVATE KEY", keys.getKey(owner, password.toCharArray()).getEncoded());
            }
            out.flush();
        } finally {
            store.delete();
        }
    }

    /** keytool ends the JVM with status 1 if it fails, and says why. */
    private static void keytool(File store, String password, String alias, String... more)
            throws ReflectiveOperationException {
        String[] common = {"-genkeypair", "-alias", alias, "-keyalg", "EC", "-groupname", "secp256r1",
            "-keystore", store.getPath(), "-storetype", "PKCS12", "-storepass", password};
        String[] words = new String[common.length + more.length];
        System.arraycopy(common, 0, words, 0, common.length);
        System.arraycopy(more, 0, words, common.length, more.length);
        Class<?> tool = Class.forName("sun.security.tools.keytool.Main");
        try {
            tool.getMethod("main", String[].class).invoke(null, (Object) words);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException("keytool failed", e.getCause());
        }
    }

    private static byte[] encoded(Certificate certificate) throws Exception {
        return certificate.getEncoded();
    }

    private static void print(PrintStream out, String kind, byte[] content) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        byte[] pem = ("-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n")
            .getBytes(StandardCharsets.US_ASCII);
        out.write(pem, 0, pem.length);
    }
}
