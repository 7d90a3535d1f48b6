"""A relay on loopback between one client and a cluster: it passes every frame on, and writes down what it saw."""
