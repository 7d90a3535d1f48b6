"""Executable specification of the RocketMQ producer: pure rules, dialects of releases, remoting protocol, live client."""
