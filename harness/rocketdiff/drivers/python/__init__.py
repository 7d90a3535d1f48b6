"""Drivers in Python: the reference, the toys, the C++ client and the gRPC Python client."""
