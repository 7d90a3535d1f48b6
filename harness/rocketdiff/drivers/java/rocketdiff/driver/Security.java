package rocketdiff.driver;

import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** How the servers want to be asked: requests signed by an account's hook, TLS by the client's own system properties. */
public final class Security {
    private static final String TLS_CLASS = "org.apache.rocketmq.remoting.netty.TlsSystemConfig";
    private static final String HOOK_CLASS = "org.apache.rocketmq.acl.common.AclClientRPCHook";
    private static final String CREDENTIALS_CLASS = "org.apache.rocketmq.acl.common.SessionCredentials";
    private static final Map<String, String> TLS_PROPERTIES = new LinkedHashMap<>();

    static {
        TLS_PROPERTIES.put("ca", "tls.client.trustCertPath");
        TLS_PROPERTIES.put("certificate", "tls.client.certPath");
        TLS_PROPERTIES.put("key", "tls.client.keyPath");
        TLS_PROPERTIES.put("key_password", "tls.client.keyPassword");
    }

    private final Map<String, Object> account;

    private Security(Map<String, Object> account) {
        this.account = account;
    }

    /** Of a setup; TLS is on from then on, for which no class of the client may have read its properties yet. */
    @SuppressWarnings("unchecked")
    static Security of(Map<String, Object> setup) {
        Map<String, Object> said = (Map<String, Object>) setup.get("security");
        if (said == null) {
            return new Security(null);
        }
        Map<String, Object> tls = (Map<String, Object>) said.get("tls");
        if (tls != null) {
            require(hasTls(), "this client has no TLS");
            System.setProperty("tls.enable", "true");
            System.setProperty("tls.test.mode.enable", "false");
            System.setProperty("tls.client.authServer", Boolean.toString(tls.containsKey("ca")));
            // The client reads this file before the properties, and by default one of the machine.
            System.setProperty("tls.config.file", "/nowhere/tls.properties");
            for (Map.Entry<String, String> each : TLS_PROPERTIES.entrySet()) {
                if (tls.containsKey(each.getKey())) {
                    System.setProperty(each.getValue(), Fields.text(tls, each.getKey()));
                }
            }
        }
        return new Security((Map<String, Object>) said.get("account"));
    }

    /** As capabilities of hello: every release can be given a hook, TLS exists from 4.2.0 on. */
    static List<String> capabilities() {
        List<String> names = new ArrayList<>();
        names.add("acl");
        if (hasTls()) {
            names.add("tls");
        }
        return names;
    }

    /** Signs what the other hook, which may be null, has seen; null where there is nothing for either. */
    public RPCHook hook(RPCHook other) {
        if (account == null) {
            return other;
        }
        RPCHook signing = hookOfClient();
        RPCHook signed = signing == null ? new SigningHook(account) : signing;
        return other == null ? signed : new BothHooks(other, signed);
    }

    /** The client's own; up to 5.2.0 it is in an artifact that a client does not depend on, rocketmq-acl. */
    private RPCHook hookOfClient() {
        try {
            Class<?> credentials = Class.forName(CREDENTIALS_CLASS);
            String token = (String) account.get("security_token");
            Object given = token == null
                ? credentials.getConstructor(String.class, String.class).newInstance(accessKey(account), secretKey(account))
                : credentials.getConstructor(String.class, String.class, String.class)
                    .newInstance(accessKey(account), secretKey(account), token);
            return (RPCHook) Class.forName(HOOK_CLASS).getConstructor(credentials).newInstance(given);
        } catch (ClassNotFoundException e) {
            return null;
        } catch (NoSuchMethodException | InstantiationException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("this client's AclClientRPCHook cannot be made", e);
        }
    }

    private static String accessKey(Map<String, Object> account) {
        return Fields.text(account, "access_key");
    }

    private static String secretKey(Map<String, Object> account) {
        return Fields.text(account, "secret_key");
    }

    private static boolean hasTls() {
        try {
            Class.forName(TLS_CLASS, false, Security.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalStateException(otherwise);
        }
    }

    /** First the one that looks, then the one that signs. */
    private static final class BothHooks implements RPCHook {
        private final RPCHook first;
        private final RPCHook second;

        BothHooks(RPCHook first, RPCHook second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public void doBeforeRequest(String address, RemotingCommand request) {
            first.doBeforeRequest(address, request);
            second.doBeforeRequest(address, request);
        }

        @Override
        public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
            first.doAfterResponse(address, request, response);
            second.doAfterResponse(address, request, response);
        }
    }

    /** As AclClientRPCHook of 4.9.7. */
    private static final class SigningHook implements RPCHook {
        private static final String ALGORITHM = "HmacSHA1";

        private final Map<String, Object> account;

        SigningHook(Map<String, Object> account) {
            this.account = account;
        }

        @Override
        public void doBeforeRequest(String address, RemotingCommand request) {
            request.addExtField("AccessKey", accessKey(account));
            if (account.containsKey("security_token")) {
                request.addExtField("SecurityToken", Fields.text(account, "security_token"));
            }
            request.makeCustomHeaderToNet();
            StringBuilder values = new StringBuilder();
            for (String value : new TreeMap<>(request.getExtFields()).values()) {
                values.append(value);
            }
            request.addExtField("Signature", signature(values.toString().getBytes(StandardCharsets.UTF_8), request.getBody()));
        }

        @Override
        public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
            // Nothing to do.
        }

        private String signature(byte[] values, byte[] body) {
            try {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(new SecretKeySpec(secretKey(account).getBytes(StandardCharsets.UTF_8), ALGORITHM));
                mac.update(values);
                return Base64.getEncoder().encodeToString(body == null ? mac.doFinal() : mac.doFinal(body));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("cannot sign", e);
            }
        }
    }
}
