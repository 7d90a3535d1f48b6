package rocketdiff.server;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.rocketmq.proxy.common.Address;
import org.apache.rocketmq.proxy.processor.MessagingProcessor;
import org.apache.rocketmq.proxy.service.route.ProxyTopicRouteData;

/**
 * Routes that name the address by which a client asked, in every mode.
 *
 * <p>ClusterTopicRouteService answers so. LocalTopicRouteService (5.3.3) names the proxy's own port whatever useEndpointPortFromRequest
 * says, so that clients would walk past a relay.
 */
final class SameAddress {
    private static final String ROUTE = "getTopicRouteDataForProxy";

    private SameAddress() {
    }

    static MessagingProcessor of(MessagingProcessor processor) {
        Class<?> type = MessagingProcessor.class;
        return (MessagingProcessor) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
            Object answer = called(processor, method, arguments);
            if (method.getName().equals(ROUTE)) {
                @SuppressWarnings("unchecked")
                List<Address> asked = (List<Address>) arguments[1];
                ((ProxyTopicRouteData) answer).getBrokerDatas().forEach(broker -> broker.getBrokerAddrs().replaceAll((id, own) -> asked));
            }
            return answer;
        });
    }

    private static Object called(MessagingProcessor processor, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(processor, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
