"""Rules of every client: routes, connections, background work."""
