"""Which of a bank of defective clients the suites find."""
