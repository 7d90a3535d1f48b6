"""The matrix of clients × behaviours: many subjects run against one baseline, one table of results with evidence."""
