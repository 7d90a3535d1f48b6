import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.SerializeType;
import org.apache.rocketmq.remoting.protocol.header.SendMessageRequestHeaderV2;

/** Prints frames and stored messages as the real classes encode them, one name and its bytes in hex a line. */
public class Golden {

    public static void main(String[] args) throws Exception {
        for (SerializeType encoding : SerializeType.values()) {
            print("request-" + encoding, bytes(request(encoding).encode()));
        }
        MessageExt message = message();
        print("stored-plain", MessageDecoder.encode(message, false));
        message.setSysFlag(0x301);
        print("stored-zlib", MessageDecoder.encode(message, true));
        message.setSysFlag(0x101);
        print("stored-lz4", MessageDecoder.encode(message, true));
        message.setSysFlag(0x30);
        message.setBornHost(new InetSocketAddress("::1", 40001));
        message.setStoreHost(new InetSocketAddress("::2", 10911));
        print("stored-v6", MessageDecoder.encode(message, false));
        print("batch", MessageDecoder.encodeMessages(Arrays.asList(plain(), impatient())));
        System.out.println("id " + MessageDecoder.createMessageId(new InetSocketAddress("127.0.0.2", 10911), 4711));
    }

    private static RemotingCommand request(SerializeType encoding) {
        SendMessageRequestHeaderV2 header = new SendMessageRequestHeaderV2();
        header.setA("G");
        header.setB("T");
        header.setC("TBW102");
        header.setD(4);
        header.setE(3);
        header.setF(0);
        header.setG(1795273281683L);
        header.setH(0);
        header.setI("WAIT\u0001true\u0002k\u0001\u00fc\u0002");
        header.setJ(0);
        header.setK(false);
        header.setM(false);
        RemotingCommand command = RemotingCommand.createRequestCommand(310, header);
        command.setOpaque(77);
        command.setVersion(479);
        command.setSerializeTypeCurrentRPC(encoding);
        command.setBody("hello".getBytes());
        command.setRemark("ok");
        return command;
    }

    private static MessageExt message() {
        MessageExt message = new MessageExt();
        char[] body = new char[200];
        Arrays.fill(body, 'z');
        message.setTopic("Topic");
        message.setBody(new String(body).getBytes());
        message.setQueueId(3);
        message.setQueueOffset(17);
        message.setCommitLogOffset(4711);
        message.setFlag(5);
        message.setBodyCRC(99);
        message.setBornTimestamp(1795273281683L);
        message.setStoreTimestamp(1795273281700L);
        message.setReconsumeTimes(2);
        message.setBornHost(new InetSocketAddress("127.0.0.1", 40001));
        message.setStoreHost(new InetSocketAddress("127.0.0.2", 10911));
        message.putUserProperty("user", "\u00fc");
        message.setKeys("k");
        return message;
    }

    private static Message plain() {
        Message message = new Message("T", "hi".getBytes());
        message.setFlag(7);
        message.putUserProperty("k", "v");
        return message;
    }

    private static Message impatient() {
        Message message = new Message("T", "you".getBytes());
        message.setWaitStoreMsgOK(false);
        return message;
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static void print(String name, byte[] bytes) {
        StringBuilder line = new StringBuilder(name).append(' ');
        for (byte each : bytes) {
            line.append(String.format("%02x", each));
        }
        System.out.println(line);
    }
}
