"""Clients under test as programs: the line protocol, child processes with deadlines, one file per kind of client."""
