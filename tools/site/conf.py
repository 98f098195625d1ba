"""Sphinx's configuration of the site; tools/site/build.py makes the source folder that it reads."""

import re
from pathlib import Path

import gpucoh

project = "gpucoh"
author = "gpucoh developers"
copyright = author
version = release = gpucoh.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
# Notebooks have their outputs in the tree, where `make check-notebooks` compares them.
nb_execution_mode = "off"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# Languages of code blocks that Pygments lacks.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
napoleon_numpy_docstring = True
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Path": "Path"}
python_use_unqualified_type_names = True
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_theme = "furo"
html_title = f"gpucoh {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"source_repository": "https://github.com/gpucoh/gpucoh/"}


def link_pictures(app, page, template, context, doctree):
    """Every picture fits its column, and is a link to the whole one, for narrow windows."""
    picture = r'(<a [^>]*>\s*)?(<img [^>]*src="([^"]+)"[^>]*>)'

    def linked(found):
        link, image, file = found.groups()
        return found[0] if link else f'<a class="picture" href="{file}">{image}</a>'

    if "body" in context:
        context["body"] = re.sub(picture, linked, context["body"])


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", link_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
