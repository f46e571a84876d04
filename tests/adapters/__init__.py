"""What is particular to a format."""
