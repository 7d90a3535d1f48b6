package rocketdiff.driver.sending;

import java.io.PrintStream;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import rocketdiff.driver.ClientVersion;
import rocketdiff.line.JsonLine;

/**
 * The client without our driver: the yardstick for the driver's own cost.
 *
 * <p>Arguments: name servers, topic, group, sends, warm-up sends, body bytes. Same messages, no hook, no route watch,
 * no records; prints one JSON line.
 */
public final class BareLoop {
    private BareLoop() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        DefaultMQProducer producer = new DefaultMQProducer(args[2]);
        producer.setNamesrvAddr(args[0]);
        producer.setInstanceName("bare-" + System.nanoTime());
        producer.start();
        Messages messages = new Messages("bare", args[1]);
        int sends = Integer.parseInt(args[3]);
        int warmUp = Integer.parseInt(args[4]);
        int bodyBytes = Integer.parseInt(args[5]);
        loop(producer, messages, warmUp, bodyBytes);
        long startNs = System.nanoTime();
        loop(producer, messages, sends, bodyBytes);
        long tookNs = System.nanoTime() - startNs;
        StringBuilder line = new StringBuilder();
        new JsonLine(line, "bare-loop").with("version", ClientVersion.read()).with("sends", sends)
            .with("took_ns", tookNs).with("sends_per_s", Math.round(sends * 1e9 / tookNs)).end();
        out.print(line);
        out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void loop(DefaultMQProducer producer, Messages messages, int sends, int bodyBytes) throws Exception {
        for (int send = 0; send < sends; send++) {
            producer.send(messages.message(send, bodyBytes));
        }
    }
}
