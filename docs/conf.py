"""Sphinx: the pages of this folder, of the classes and of the commands, as HTML in build/docs (`make
docs`)."""

from __future__ import annotations

from typing import Any

from docutils import nodes

import corate

project = "corate"
author = "the corate project"
copyright = author  # noqa: A001
version = release = corate.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_copybutton"]
exclude_patterns = ["conf.py"]
source_suffix = {".md": "markdown"}
nitpicky = False

# The pages are read on the project's own site of code as well: headings are pointed to as there.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what a parameter is
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
smartquotes = False  # -- stands before options
default_role = "py:obj"  # `Tagger` in a docstring leads to the class, and whatever is no name is code

# What stands behind a prompt is copied, without the prompt and without the answer.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"corate {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["corate.css"]


def _dashes(app: Any, doctree: nodes.document) -> None:
    """A dash between a parameter and what it is; Sphinx writes two hyphens, which only smart quotes would
    turn."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" — "))


def setup(app: Any) -> None:
    app.connect("doctree-read", _dashes)
