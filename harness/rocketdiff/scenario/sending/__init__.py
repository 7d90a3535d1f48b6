"""What a scenario says about sends: its part of the file, rules, workload and exact plan."""
