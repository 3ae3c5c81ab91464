"""corate man, corate completion: the manual page and the shell's help, made of the commands themselves."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import click

from corate import __version__

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the manual page.")
def man() -> None:
    """Print the manual page of all commands, in the language of man.

    \b
    Example:
      corate man | man -l -
      corate man > ~/.local/share/man/man1/corate.1
    """
    root = click.get_current_context().find_root().command
    assert isinstance(root, click.Group)
    sys.stdout.write("".join(f"{line}\n" for line in page(root)))


@click.command(short_help="Print what completes commands in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the lines that let a shell complete commands, options and files of corate.

    \b
    Example:
      eval "$(corate completion bash)"                                   # in ~/.bashrc; zsh likewise
      corate completion fish > ~/.config/fish/completions/corate.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    made = found(root, {}, "corate", "_CORATE_COMPLETE")
    click.echo(made.source_template % made.source_vars())


def page(root: click.Group) -> Iterator[str]:
    """The manual page, line by line."""
    yield f'.TH CORATE 1 "" "corate {__version__}"'
    yield ".SH NAME"
    yield r"corate \- label sequences with conditional random fields that are trained by counting"
    yield ".SH SYNOPSIS"
    yield r".B corate"
    yield r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]"
    yield ".SH DESCRIPTION"
    yield from _help(root)
    yield ".SH COMMANDS"
    for name, command in _leaves(root, "corate"):
        context = click.Context(command, info_name=name)
        yield f".SS {_plain(' '.join([name, *command.collect_usage_pieces(context)]))}"
        yield from _help(command)
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None and isinstance(parameter, click.Option):
                yield ".TP"
                yield rf"\fB{_plain(record[0])}\fR"
                yield _plain(record[1])


def _leaves(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _help(command: click.Command) -> Iterator[str]:
    """Its text; what is marked by \\b stands as it is."""
    for paragraph in re.split(r"\n\s*\n", (command.help or "").strip()):
        lines = paragraph.split("\n")
        as_it_is = lines[0].strip() == "\b"
        yield ".PP"
        if as_it_is:
            yield ".nf"
        yield from (_plain(line if as_it_is else line.strip()) for line in lines if line.strip() != "\b")
        if as_it_is:
            yield ".fi"


def _plain(text: str) -> str:
    """Text that man shows as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = "".join(letter if letter.isascii() else rf"\[u{ord(letter):04X}]" for letter in text)
    return rf"\&{text}" if text.startswith((".", "'")) else text
