"""How often is the gate wrong: control cases by the hundred, counted into rates."""
