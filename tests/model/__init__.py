"""The containers."""
