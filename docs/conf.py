"""The site: `pip install '.[docs]'`, then `sphinx-build -W docs site`.

Pages are Markdown, the API reference is written from `__all__` of the rooms, the gallery is run.
Nothing is fetched: mathematics, fonts and scripts come from packages.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import (
    link_to_site,
    skip_foreign_member,
    write_reference,
    write_repository_pages,
)
from site_pictures import describe_pictures, show_examples

import dualfold

project = "dualfold"
author = "the dualfold developers"
copyright = author
version = release = dualfold.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["README.md", "dev/changes", "dev/skeletons", "gallery", "_templates", "_build"]
exclude_patterns += ["sg_execution_times.rst", "auto_gallery/sg_execution_times.rst"]
nitpicky = False  # numpydoc's types are words for people ("array of shape (n, d)")
root_doc = "index"
templates_path = ["_templates"]
default_role = "py:obj"  # `Isomap` in a docstring is a link where there is such a name

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "backreferences_dir": "auto_gallery/backreferences",  # examples on the pages of their names
    "doc_module": ("dualfold",),
    "plot_gallery": os.environ.get("DUALFOLD_GALLERY", "run") != "skip",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # that page loads scripts from elsewhere
    "remove_config_comments": True,
    "show_signature": False,
    "matplotlib_animations": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "site_pictures.apply_style"),
}

html_theme = "pydata_sphinx_theme"
html_title = "dualfold"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "header_links_before_dropdown": 6,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def setup(app):
    """Write the reference and copies of the repository's pages before pages are read."""
    write_reference(Path(app.srcdir))
    write_repository_pages(Path(app.srcdir))
    app.connect("source-read", link_to_site)
    app.connect("source-read", show_examples)
    app.connect("doctree-read", describe_pictures)
    app.connect("autodoc-skip-member", skip_foreign_member)
