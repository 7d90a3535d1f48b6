"""Remoting traffic seen by the relay: frames, records, exchanges and attempts."""
