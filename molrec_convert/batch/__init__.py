"""Migrating whole archives to records: plan, run, journal, report."""

from .failures import KINDS
from .job import Outcome
from .migrate import migrate, retry
from .progress import Progress, Summary
from .settings import Limits, Settings

__all__ = ["KINDS", "Limits", "Outcome", "Progress", "Settings", "Summary", "migrate", "retry"]
