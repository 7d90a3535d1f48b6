"""Programs of maintainers, started by `make`: they question the tests and the gate. No part of the wheel."""
