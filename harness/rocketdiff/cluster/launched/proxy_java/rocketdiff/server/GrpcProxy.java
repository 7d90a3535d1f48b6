package rocketdiff.server;

import io.grpc.protobuf.services.ProtoReflectionService;
import java.lang.reflect.Field;
import java.util.concurrent.ThreadPoolExecutor;
import org.apache.rocketmq.common.utils.StartAndShutdown;
import org.apache.rocketmq.proxy.CommandLineArgument;
import org.apache.rocketmq.proxy.ProxyStartup;
import org.apache.rocketmq.proxy.config.ConfigurationManager;
import org.apache.rocketmq.proxy.grpc.GrpcServer;
import org.apache.rocketmq.proxy.grpc.GrpcServerBuilder;
import org.apache.rocketmq.proxy.grpc.v2.GrpcMessagingApplication;
import org.apache.rocketmq.proxy.processor.MessagingProcessor;

/**
 * Starts a proxy as ProxyStartup.main does, with its gRPC port and without its remoting port.
 *
 * <p>The remoting port names the wildcard address as a text, which Loopback cannot replace, and no setting binds it to another.
 */
public final class GrpcProxy extends ProxyStartup {
    private GrpcProxy() {
    }

    public static void main(String[] arguments) {
        try {
            start(arguments);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void start(String[] arguments) throws Exception {
        CommandLineArgument parsed = parseCommandLineArgument(arguments);
        initConfiguration(parsed);
        initThreadPoolMonitor();
        ThreadPoolExecutor executor = createServerExecutor();
        MessagingProcessor processor = SameAddress.of(createMessagingProcessor());
        GrpcMessagingApplication application = GrpcMessagingApplication.create(processor);
        GrpcServer server = GrpcServerBuilder
            .newBuilder(executor, ConfigurationManager.getProxyConfig().getGrpcServerPort())
            .addService(application)
            .addService(ProtoReflectionService.newInstance())
            .configInterceptor()
            .build();
        // What createMessagingProcessor has put down to be started: in local mode the broker.
        Field started = ProxyStartup.class.getDeclaredField("PROXY_START_AND_SHUTDOWN");
        started.setAccessible(true);
        ((StartAndShutdown) started.get(null)).start();
        application.start();
        server.start();
    }
}
