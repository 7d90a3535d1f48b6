"""Scripts that the real Java classes and the reference rules run in virtual time, and the comparison of their answers."""
