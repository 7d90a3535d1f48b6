"""What a scenario says about consumers: its part of the file, rules, group and the feeder's plan."""
