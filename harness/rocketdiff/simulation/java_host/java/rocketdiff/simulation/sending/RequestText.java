package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.json.JsonText;

/**
 * A request to send as JSON: its code, the fields of its header in order of their names, and its body.
 *
 * <p>The client's id of a message and our mark differ between machines and sends, so they are replaced by a zero. When
 * the message was born is left out, and so is a compressed body.
 */
final class RequestText {
    private static final String BORN = "g";
    private static final String SYSTEM_FLAG = "f";

    private RequestText() {
    }

    static String of(Object request, Protocol protocol) {
        Method encode = Members.method(protocol.command, "makeCustomHeaderToNet", 0);
        Members.must(encode, request);
        Map<String, String> fields = new TreeMap<>();
        Map<?, ?> extra = (Map<?, ?>) Members.must(Members.method(protocol.command, "getExtFields", 0), request);
        extra.forEach((name, value) -> fields.put((String) name, alike((String) value)));
        fields.remove(BORN);
        byte[] body = (byte[]) Members.must(Members.method(protocol.command, "getBody", 0), request);
        StringBuilder out = new StringBuilder("{\"code\": ").append(protocol.code(request)).append(", \"fields\": {");
        String separator = "";
        for (Map.Entry<String, String> field : fields.entrySet()) {
            JsonText.append(out.append(separator), field.getKey());
            JsonText.append(out.append(": "), field.getValue());
            separator = ", ";
        }
        out.append("}, \"body\": ");
        boolean isCompressed = (Integer.parseInt(fields.get(SYSTEM_FLAG)) & 1) != 0;
        JsonText.append(out, isCompressed ? null : alike(new String(body, StandardCharsets.ISO_8859_1)));
        return out.append('}').toString();
    }

    private static String alike(String text) {
        return text.replaceAll("(UNIQ_KEY|" + Protocol.MARK + ")\u0001[0-9A-F]+", "$1\u00010");
    }
}
