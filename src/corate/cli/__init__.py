"""The command `corate`: one file a command. Progress goes to stderr, data to stdout.

Bad input is one line on stderr and exit code 2. Only click is imported here and at the top of the commands,
so that `--help` is quick; the rest is imported where it is used.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys

import click

from corate import __version__
from corate.cli.audit import audit
from corate.cli.convert import convert
from corate.cli.correct import correct
from corate.cli.curve import curve
from corate.cli.demo import demo
from corate.cli.diff import diff
from corate.cli.docs import docs
from corate.cli.eval import eval_
from corate.cli.explain import explain
from corate.cli.forget import forget
from corate.cli.inspect import inspect
from corate.cli.logs import add_log_options, listening
from corate.cli.man import completion, man
from corate.cli.merge import merge
from corate.cli.network import network
from corate.cli.prune import prune
from corate.cli.refit import refit
from corate.cli.sample import sample
from corate.cli.serve import serve
from corate.cli.suggest import suggest
from corate.cli.tag import tag
from corate.cli.train import train
from corate.cli.update import update
from corate.errors import CorateError

BAD_INPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 2, 130, 141, 143


class Terminated(BaseException):
    """SIGTERM: whatever is being done ends, and nothing of it is kept (Ctrl-C keeps weights found so far)."""


def _terminate(number: int, frame: object) -> None:
    raise Terminated


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="corate")
@click.pass_context
def cli(context: click.Context) -> None:
    """Label sequences with conditional random fields that are trained by counting.

    \b
    Example:
      corate train train.conll -m pos.model     # two columns: word TAB label
      corate tag -m pos.model text.txt
      corate eval -m pos.model test.conll

    corate demo shows it on a bundled sample, corate sample writes the sample's files, and corate docs opens
    the documentation.

    \b
    Exit codes:
      0    done
      2    bad input or a bad option, said in one line; nothing was written
      3    done, but for bad lines that were skipped (tag --skip-bad)
      130  interrupted (Ctrl-C); 143: terminated; 141: nobody reads the output
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


COMMANDS = (train, tag, eval_, curve, explain, inspect, update, forget, correct, merge, diff, refit, prune)
for command in (*COMMANDS, convert, network, serve, suggest, audit, demo, man, completion):
    add_log_options(command)
    cli.add_command(command)
for command in (sample, docs):
    cli.add_command(command)


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    # Reading makes millions of small objects and no cycles: to look for cycles costs a tenth of the time.
    gc.disable()
    # A polite end: whatever is being written is cleaned up.
    signal.signal(signal.SIGTERM, _terminate)
    # No command multiplies matrices: the threads that NumPy would start for it only cost start-up time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    _open_streams()
    with listening():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        code = cli.main(arguments, prog_name="corate", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "corate"
        return _fail(f"{command}: {_one_line(error.format_message())} (see {command} --help)")
    except click.ClickException as error:
        return _fail(f"corate: {_one_line(error.format_message())}")
    except CorateError as error:
        return _fail(_one_line(str(error)))
    except BrokenPipeError:
        return _leave_quietly(BROKEN_PIPE)
    except OSError as error:
        if error.filename is not None:
            return _fail(f"{error.filename}: {error.strerror}")
        _fail(f"corate: cannot write the output: {error.strerror or error}")
        return _leave_quietly(BAD_INPUT)
    except MemoryError:
        return _fail("corate: not enough memory")
    except Terminated:
        _fail("corate: terminated")
        return TERMINATED
    except (KeyboardInterrupt, click.Abort):
        _fail("corate: interrupted")
        return INTERRUPTED


def _open_streams() -> None:
    """A stream that is closed swallows what is written to it; one that cannot show a character escapes it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(OSError):  # it looks where a file's end is, which may fail
                stream.reconfigure(errors="backslashreplace")


def _fail(message: str) -> int:
    print(message, file=sys.stderr)
    return BAD_INPUT


def _one_line(message: str) -> str:
    return " ".join(message.split("\n"))


def _leave_quietly(code: int) -> int:
    """Nobody reads stdout any more: keep Python from complaining when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
