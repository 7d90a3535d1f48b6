"""What runs the client for real: threads, sockets, the clock; and connections for tools."""
