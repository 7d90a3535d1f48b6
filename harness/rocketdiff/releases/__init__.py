"""Published releases of RocketMQ: the catalogue, exact artifacts with checksums, a JVM, and the compiled Java driver."""
