"""How often the gate is wrong: hundreds of control cases, counted into rates."""
