"""What a file holds: its facts, from its headers, for people and as JSON; and its course as a picture."""

from .facts import BlockFacts, CellFacts, ColumnFacts, Course, Extent, Info, SectionFacts, ValueFacts
from .look import info
from .picture import plot
from .text import info_text

__all__ = [
    "BlockFacts",
    "CellFacts",
    "ColumnFacts",
    "Course",
    "Extent",
    "Info",
    "SectionFacts",
    "ValueFacts",
    "info",
    "info_text",
    "plot",
]
