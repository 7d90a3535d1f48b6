"""Clients under test as programs: rules of the line protocol, child processes with deadlines, kinds of clients."""
