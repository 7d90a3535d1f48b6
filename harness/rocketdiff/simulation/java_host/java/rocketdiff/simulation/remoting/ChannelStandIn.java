package rocketdiff.simulation.remoting;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;

/** What the client sees as its SocketChannel. */
final class ChannelStandIn implements InvocationHandler {
    private final Connection connection;

    ChannelStandIn(Connection connection) {
        this.connection = connection;
    }

    @Override
    public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "isActive":
            case "isOpen":
                return connection.isActive();
            case "isWritable":
                return true;
            case "remoteAddress":
                return connection.remote();
            case "id":
                return connection.types().id(connection.number());
            case "attr":
            case "hasAttr":
                return connection.types().attribute(connection.attributes(), method, arguments[0]);
            case "pipeline":
                return connection.pipeline().proxy;
            case "writeAndFlush":
                return connection.write(arguments[0]);
            case "close":
                return connection.close();
            case "hashCode":
                return connection.number();
            default:
                return Plain.answer(self, method, arguments, connection);
        }
    }
}
