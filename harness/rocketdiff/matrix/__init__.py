"""Clients × behaviours: many subjects run against one baseline, and every answer in one table with its evidence."""
