"""The command line: it translates arguments, errors and reports, and does nothing else."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from importlib import import_module
from typing import Any

import typer

from molrec_convert import __version__
from molrec_convert.errors import ConvertError

from .arguments import TextCommand, TextGroup
from .trouble import tell

DEFAULT = "convert"
COMMANDS = ("batch", DEFAULT, "diff", "formats", "info", "repair", "validate")
"""The commands, each a module of this package."""


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


def _terminated(number: int, _frame: object) -> None:
    """End as an error does, so that nothing half-written is left where a queue ends a job."""
    sys.exit(128 + number)


def main() -> None:
    """Run the command line."""
    # The threads that numpy's linear algebra starts wait by spinning, on cores that decode; nothing here needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    signal.signal(signal.SIGTERM, _terminated)
    gc.freeze()  # the modules stay; looking at them again and again costs a tenth of a short conversion
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)  # nor are they looked at when all ends, which takes as long
    app(prog_name="molrec-convert")
