"""Benchmarks on this machine: clients, the simulation, the relay, judging."""
