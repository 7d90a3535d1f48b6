"""Standard scripts, what every release's real classes answer to them, and what the answers mean."""
