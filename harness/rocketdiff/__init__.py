"""rocketdiff: a differential conformance harness for Apache RocketMQ clients."""

__version__ = "0.1.0"
