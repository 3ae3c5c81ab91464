"""corate sample: the bundled sample as files."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from corate.errors import InputError


@click.command(short_help="Write the bundled sample: files to try everything on.")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace files of these names.")
def sample(folder: Path, force: bool) -> None:
    """Write train.conll and test.conll to FOLDER (here, unless said otherwise).

    They are 380 and 299 English sentences, a token a line: word, part of speech, entity, separated by tabs;
    a blank line ends a sentence.

    \b
    Example:
      corate sample
      corate train --label 2 train.conll -m pos.model     # the second column: parts of speech
      corate train train.conll -m ner.model               # the last one: entities
      corate eval --label 2 -m pos.model test.conll
    """
    from corate.text.sample import FOLDER, PARTS

    names = [f"{part}.conll" for part in PARTS]
    if not force and (there := next((name for name in names if (folder / name).exists()), None)):
        raise InputError(f"{folder / there} is there already: name another folder, or give --force")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(FOLDER / name, folder / name)
