"""What clusters of ours share, as processes and as containers."""
