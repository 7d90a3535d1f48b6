package rocketdiff.simulation.standins;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The machine's address: the same everywhere, and no question to a resolver. */
@StandsFor(InetAddress.class)
public final class AddressCalls {
    private AddressCalls() {
    }

    public static InetAddress getLocalHost() throws UnknownHostException {
        return InetAddress.getByAddress("simulation", new byte[] {10, 0, 0, (byte) 200});
    }

    public static String getHostName(InetAddress address) {
        return address.getHostAddress();
    }
}
