"""The part of gRPC that a relay reads and a probe sends: HTTP/2 frames, protobuf fields, and RocketMQ's messages."""
