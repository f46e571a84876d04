"""Looks at a whole record and tells all that is wrong with it, where a reader stops at the first fault.

Every rule is the reader's own check; a validator goes on after each, and reads all values in pieces.
"""

from .findings import ERROR, WARNING, Finding
from .record import validate

__all__ = ["ERROR", "WARNING", "Finding", "validate"]
