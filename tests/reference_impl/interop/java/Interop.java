import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.zip.CRC32;

import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/**
 * What the Java client makes of a topic, and a topic made by the Java client.
 *
 * Arguments: name server, topic to read to its end, topic to send to. Prints "read ..." and "sent ..." lines.
 */
public class Interop {

    private static final int TRIES = 10;
    private static final int SEND_TIMEOUT_MS = 60000;

    public static void main(String[] args) throws Exception {
        try {
            for (String line : read(args[0], args[1])) {
                System.out.println(line);
            }
            send(args[0], args[2]);
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1); // threads of a client that was not shut down keep the process alive
        }
        System.exit(0);
    }

    /** Asks again after a timeout: a client gives a name server three seconds, which is too short on a busy machine. */
    private static <T> T patiently(Callable<T> question) throws Exception {
        for (int tries = 1; ; tries++) {
            try {
                return question.call();
            } catch (MQClientException | RemotingException error) {
                if (tries == TRIES) {
                    throw error;
                }
            }
        }
    }

    private static List<String> read(String nameServer, String topic) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("interop-reader");
        consumer.setNamesrvAddr(nameServer);
        consumer.start();
        List<String> lines = patiently(() -> read(consumer, topic));
        consumer.shutdown();
        return lines;
    }

    private static List<String> read(DefaultMQPullConsumer consumer, String topic) throws Exception {
        Set<MessageQueue> queues = consumer.fetchSubscribeMessageQueues(topic);
        List<String> lines = new ArrayList<String>();
        for (MessageQueue queue : queues) {
            long offset = consumer.minOffset(queue);
            while (offset < consumer.maxOffset(queue)) {
                PullResult pulled = consumer.pull(queue, "*", offset, 32);
                if (pulled.getPullStatus() == PullStatus.FOUND) {
                    for (MessageExt message : pulled.getMsgFoundList()) {
                        lines.add(line("read", queue, message));
                    }
                }
                offset = pulled.getNextBeginOffset();
            }
        }
        Collections.sort(lines);
        return lines;
    }

    private static void send(String nameServer, String topic) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("interop-writer");
        producer.setNamesrvAddr(nameServer);
        producer.setSendMsgTimeout(SEND_TIMEOUT_MS);
        producer.start();
        patiently(() -> producer.fetchPublishMessageQueues(topic));
        byte[] large = new byte[20000];
        for (int i = 0; i < large.length; i++) {
            large[i] = (byte) (i * 31 % 251);
        }
        sent(producer.send(message(topic, "small".getBytes("UTF-8"))), "small".getBytes("UTF-8"));
        sent(producer.send(message(topic, large)), large);
        List<Message> batch = Collections.singletonList(message(topic, "batched".getBytes("UTF-8")));
        sent(producer.send(batch), "batched".getBytes("UTF-8"));
        producer.shutdown();
    }

    private static Message message(String topic, byte[] body) {
        Message message = new Message(topic, "tag", "key1 key2", body);
        message.putUserProperty("own", "\u00fc");
        return message;
    }

    private static void sent(SendResult result, byte[] body) {
        MessageQueue queue = result.getMessageQueue();
        System.out.println(String.join(" ", "sent", queue.getBrokerName(), "" + queue.getQueueId(),
            "" + result.getQueueOffset(), "" + body.length, crc(body), "tag", "own=252", result.getMsgId()));
    }

    private static String line(String word, MessageQueue queue, MessageExt message) {
        return String.join(" ", word, queue.getBrokerName(), "" + message.getQueueId(), "" + message.getQueueOffset(),
            "" + message.getBody().length, crc(message.getBody()), message.getTags(), own(message), message.getMsgId());
    }

    private static String own(MessageExt message) {
        String own = message.getUserProperty("own");
        return "own=" + (own == null ? "none" : "" + (int) own.charAt(0));
    }

    private static String crc(byte[] body) {
        CRC32 crc = new CRC32();
        crc.update(body);
        return Long.toHexString(crc.getValue());
    }
}
