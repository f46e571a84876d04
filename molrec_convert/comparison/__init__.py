"""Whether two files mean the same: what differs, where first, and how far it goes."""

from .compare import diff
from .differences import Compared, Comparison, Difference
from .text import comparison_text

__all__ = ["Compared", "Comparison", "Difference", "comparison_text", "diff"]
