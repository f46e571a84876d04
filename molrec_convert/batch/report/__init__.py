"""The report of a migration: one page that needs nothing else, readable by somebody who was not there."""

from .page import NAME, write_report

__all__ = ["NAME", "write_report"]
