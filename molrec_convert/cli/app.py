"""The commands, and what is common to them: errors, the version, a conversion where no command is named."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer

from molrec_convert import __version__
from molrec_convert.errors import ConvertError

from .arguments import TextCommand, TextGroup
from .names import COMMANDS, DEFAULT
from .trouble import tell


class DefaultGroup(TextGroup):
    """Commands by name, and a conversion where the first word is no command; errors are one line and status 1.

    A command is loaded when it is asked for: making all of them takes as long as converting some megabytes.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; None where there is none."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name)
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        own = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
        if args and args[0] not in COMMANDS and args[0] not in own:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone, and needs no message
        except (ConvertError, MemoryError, OSError) as error:
            tell(error)
        raise typer.Exit(1)


app = typer.Typer(
    cls=DefaultGroup,
    help="Convert between MolRec records and the formats of molecular simulation: molrec-convert in.lammpstrj out.h5",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _loaded(name: str) -> Any:
    module = import_module(f".{name}", __package__)
    made = getattr(module, "app", None)
    if made is None:
        made = typer.Typer(add_completion=False)
        made.command(name, cls=TextCommand)(module.command)
    command = typer.main.get_command(made)
    command.name = name
    return command


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"molrec-convert {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    del version
