"""The standard scripts, the answers of every release's real classes, and their meaning."""
