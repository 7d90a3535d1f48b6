"""Live host of the client: threads, sockets and the clock; also connections for tools."""
