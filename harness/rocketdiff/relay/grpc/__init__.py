"""gRPC traffic seen by the relay: calls, and the attempts derived from them; no I/O."""
