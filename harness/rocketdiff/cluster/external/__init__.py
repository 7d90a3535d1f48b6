"""An existing cluster: inspected, changed only by its owner's commands and by topics, and left as it was found."""
