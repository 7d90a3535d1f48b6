"""What passed the relay, as frames of the remoting protocol and as sends and attempts."""
