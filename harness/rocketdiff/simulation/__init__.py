"""Virtual time: scripts that the real Java classes and the reference rules run exactly alike, and what is done with their answers."""
