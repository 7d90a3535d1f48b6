"""The default backend: servers as JVMs on this host's loopback; needs no container engine."""
