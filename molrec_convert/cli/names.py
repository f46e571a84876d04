"""The names of the commands."""

DEFAULT = "convert"
COMMANDS = ("batch", DEFAULT, "diff", "formats", "info", "repair", "validate")
"""The commands, each a module of this package."""
