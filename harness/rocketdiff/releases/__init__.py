"""Published releases of RocketMQ: what there is, the exact artifacts with checksums, a JVM, and the compiled Java driver."""
