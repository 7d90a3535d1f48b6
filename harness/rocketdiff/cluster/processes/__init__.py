"""The default backend: servers as JVMs of this host, on loopback, needing no container engine."""
