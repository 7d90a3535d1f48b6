package rocketdiff.driver;

import java.util.List;
import java.util.Map;

/** What the runner asks of a client in any role: where, under which name, with which settings. */
public final class Setup {
    public final String nameServers;
    public final String run;
    public final Map<String, Object> settings;
    public final Security security;

    @SuppressWarnings("unchecked")
    public Setup(Map<String, Object> line) {
        StringBuilder addresses = new StringBuilder();
        for (Object address : (List<?>) Fields.of(line, "name_servers", List.class)) {
            addresses.append(addresses.length() == 0 ? "" : ";").append(address);
        }
        this.settings = (Map<String, Object>) Fields.of(line, "settings", Map.class);
        this.nameServers = addresses.toString();
        this.run = Fields.text(line, "run");
        this.security = Security.of(line);
    }
}
