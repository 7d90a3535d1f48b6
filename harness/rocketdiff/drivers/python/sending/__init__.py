"""What Python drivers do as producers."""
