"""RocketMQ's remoting protocol: frames, codes, requests and messages without I/O, and apart from them the channel that has a socket."""
