"""Tests of numbers, lines and streams."""
