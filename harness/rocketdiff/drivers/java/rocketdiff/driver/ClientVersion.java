package rocketdiff.driver;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/**
 * Which release is on the class path, by what its own jar says; never what the command line hoped for.
 *
 * <p>But for a build that nobody published, which may say anything: the runner knows its bytes and gives its label.
 */
public final class ClientVersion {
    private static final String POM = "/META-INF/maven/org.apache.rocketmq/rocketmq-client/pom.properties";

    private ClientVersion() {
    }

    public static String read() throws IOException {
        String build = System.getProperty("rocketdiff.build");
        if (build != null) {
            return build;
        }
        try (InputStream in = DefaultMQProducer.class.getResourceAsStream(POM)) {
            Properties pom = new Properties();
            if (in != null) {
                pom.load(in);
            }
            return pom.getProperty("version", "unknown");
        }
    }
}
