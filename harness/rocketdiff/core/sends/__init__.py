"""What clients are asked to send, and what they report."""
