"""Live host of the client: threads, sockets, frames and the clock; also connections for tools."""
