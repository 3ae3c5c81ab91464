"""Templates: files that list contexts, corate's own and those of CRF++ as they are.

    corate                       CRF++                            the context
    word-1,word                  U05:%x[-1,0]/%x[0,0]             word-1,word
    col2+1      # a comment      U12:%x[1,1]                      col2+1
    pair:word                    B01:%x[0,0]                      pair:word

CRF++ counts columns from 0, corate from 1, and column 1 is the word. Any other text of a CRF++ template only
names the feature. Wapiti's templates are read as far as they say the same: `u`, `b` and `*` (both), %X (lower
case), and %m of affixes, "^.?.?" and ".?.?$". Lines without %x, such as `B`, are what corate always has:
labels and pairs of labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from corate.contexts.quotes import quoted_parts
from corate.errors import InputError
from corate.text.formats.lines import open_lines, source_name

MOST_ROWS = 99  # how far a context may look
MOST_COLUMNS = 999
MOST_LETTERS = 20_000  # of a template of CRF++

_WITHOUT_MACRO = re.compile(r"[UB][0-9]*:?")
_COMMENT = re.compile(r"\s#")
_AFFIX = r"\^(?:\.\??){1,30}|(?:\.\??){1,30}\$"
_MACRO = re.compile(rf'%([xXm])\[\s*([+-]?[0-9]+)\s*,\s*([0-9]+)\s*(?:,\s*"({_AFFIX})"\s*)?\]')
_BROKEN_MACRO = re.compile(r"%[^%\]]*\]?")

Check = Callable[[str], object]


def read_contexts(path: str | Path, check: Check | None = None, encoding: str = "utf-8") -> tuple[str, ...]:
    """The names of the contexts that the file `path` lists, in its order, each once.

    `check` is called with each name, and raises a ValueError for one that is not wanted; `encoding` is the
    file's.
    """
    return parse_contexts(open_lines(path, encoding), source_name(path), check)


def parse_contexts(lines: Iterable[str], source: str, check: Check | None = None) -> tuple[str, ...]:
    """As `read_contexts`, from lines; `check` raises a ValueError for what is no context of corate."""
    numbered = [(n, line) for n, text in enumerate(lines, 1) if (line := text.strip()) and line[0] != "#"]
    if not numbered:
        raise InputError("no context: write one a line, such as word-1,word", source)
    # No context has a %; a line such as B or U07 is CRF++'s, too.
    is_crfpp = any("%" in "".join(quoted_parts(_own(line))[::2]) for _, line in numbered)
    is_crfpp = is_crfpp or all(_WITHOUT_MACRO.fullmatch(line) for _, line in numbered)
    names: dict[str, None] = {}
    for number, line in numbered:
        try:
            found = _from_template(line) if is_crfpp else [_checked(_own(line), check or _parse)]
        except ValueError as error:
            raise InputError(str(error), source, number) from error
        names |= dict.fromkeys(found)
    if not names:
        raise InputError(
            "a template of labels alone, such as B, which corate always looks at: add one of words, such as "
            "U00:%x[0,0]",
            source,
        )
    return tuple(names)


def _own(line: str) -> str:
    """A line without its comment and without blanks at commas; what is in quotes stays."""
    kept = []
    for place, part in enumerate(quoted_parts(line)):
        text, *comment = [part] if place % 2 else _COMMENT.split(part, maxsplit=1)
        kept.append(text if place % 2 else _close_commas(text))
        if comment:
            break
    return "".join(kept).strip()


def _close_commas(text: str) -> str:
    """Without blanks before and after commas."""
    first, *others = text.split(",")
    if not others:
        return text
    *between, last = others
    return ",".join([first.rstrip(), *map(str.strip, between), last.lstrip()])


def _checked(name: str, check: Check) -> str:
    check(name)
    return name


def _parse(name: str) -> object:
    from corate.contexts.template import Context

    return Context.parse(name)


def _from_template(line: str) -> list[str]:
    """The contexts of a template of CRF++ or Wapiti: none where it has no %x, two where it begins with *."""
    if len(line) > MOST_LETTERS:
        raise ValueError(f"a template of {len(line):,} characters: write at most {MOST_LETTERS:,}")
    if line[0] not in "UBub*":
        raise ValueError(
            f"{line!r:.60} begins with neither U nor B nor *: corate reads templates of CRF++ and Wapiti, "
            "such as U01:%x[-1,0]"
        )
    broken = _BROKEN_MACRO.search(_MACRO.sub("", line))
    if broken:
        raise ValueError(
            f"{broken[0]!r:.60} is not read: write %x[row,column] with two whole numbers; or an affix, "
            '%m[0,0,"^.?.?"]'
        )
    atoms = dict.fromkeys(_atom(*parts) for parts in _MACRO.findall(line))
    kinds = {"u": ("",), "b": ("pair:",), "*": ("", "pair:")}[line[0].lower()]
    return [kind + ",".join(atoms) for kind in kinds] if atoms else []


def _view_of(letter: str, pattern: str) -> str:
    """%x → word, %X → lower, %m[…,"^.?.?.?"] → prefix3, %m[…,".?.?$"] → suffix2."""
    if letter in "xX":
        return "word" if letter == "x" else "lower"
    return f"prefix{pattern.count('.')}" if pattern.startswith("^") else f"suffix{pattern.count('.')}"


def _atom(letter: str, row: str, column: str, pattern: str) -> str:
    """%x[-1,0] → word-1, %x[0,1] → col2."""
    if (letter == "m") != bool(pattern):
        raise ValueError(
            f'%{letter}[{row},{column}]: %x has no pattern, and %m one of an affix, such as "^.?.?"'
        )
    steps, number = row.lstrip("+-0") or "0", column.lstrip("0") or "0"
    if len(steps) > 2 or len(number) > 3 or int(number) >= MOST_COLUMNS:
        raise ValueError(
            f"%x[{row:.20},{column:.20}] is out of reach: rows are -{MOST_ROWS} to {MOST_ROWS}, "
            f"columns 0 to {MOST_COLUMNS - 1}"
        )
    offset = -int(steps) if row[0] == "-" else int(steps)
    view = _view_of(letter, pattern)
    if int(number):
        view = f"col{int(number) + 1}" + ("" if view == "word" else f":{view}")
    return f"{view}{offset:+d}" if offset else view
