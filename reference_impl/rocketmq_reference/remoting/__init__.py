"""RocketMQ's remoting protocol without I/O: frames, codes, requests, answers and messages."""
