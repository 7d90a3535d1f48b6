"""What the backends share that start servers: processes and containers."""
