"""The common part of the backends that start servers: processes and containers."""
