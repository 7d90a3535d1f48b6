"""The little of gRPC that a relay reads and a probe says: HTTP/2 frames, protobuf fields, and RocketMQ's messages in them."""
