"""What passed on connections of clients that speak gRPC: calls, and the attempts they were; without I/O."""
