"""Drawn scenarios, played by real releases against themselves: any divergence is a false alarm."""
