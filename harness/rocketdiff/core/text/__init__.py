"""Text for people: escaped, quoted, matched and suggested."""
