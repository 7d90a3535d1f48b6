"""What the rules let a group of consumers do: bounds of its committed offsets, and how long a queue may stand still."""
