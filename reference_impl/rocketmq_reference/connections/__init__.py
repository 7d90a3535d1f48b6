"""Connections to servers: blocking sockets and the requests that wait on them."""
