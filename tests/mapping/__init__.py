"""The shared tables."""
