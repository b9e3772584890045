"""Sphinx: `make docs` builds with warnings as errors and without the network."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import arboleda
from arboleda import Study
from arboleda.study import page as write_page

# The gallery draws to files; no screen is needed. Its tables are where the tests look for theirs.
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("ARBOLEDA_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data"))

project = "arboleda"
author = "The arboleda developers"
project_copyright = author
version = release = arboleda.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
# A README describes a folder to those who read the repository; it is no page.
exclude_patterns = [
    "_build",
    "gallery/examples",
    "sg_execution_times.rst",
    "README.md",
    "**/README.md",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
html_math_renderer = "mathml"
templates_path = ["_templates"]
default_role = "py:obj"
# The checkout may lie in a folder whose name has spaces; only the examples' own names count.
suppress_warnings = ["sphinx_gallery.space_in_filename"]

html_theme = "furo"
html_title = f"arboleda {version}"
html_static_path = ["_static"]
html_css_files = ["arboleda.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2f6b3c",
        "color-brand-content": "#2f6b3c",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8fcf9c",
        "color-brand-content": "#8fcf9c",
    },
}

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say them in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_validation_checks = {"SS01", "PR02", "PR10"}
numpydoc_validation_exclude = {r"\.__\w+__$", r"set_\w+_request$", r"get_metadata_routing$"}

sphinx_gallery_conf = {
    "examples_dirs": "gallery/examples",
    "gallery_dirs": "gallery/generated",
    "filename_pattern": r"/plot_",
    # In the order of a course.
    "subsection_order": [
        f"gallery/examples/{name}"
        for name in (
            "evaluation",
            "decision_theory",
            "generative_models",
            "linear_models",
            "trees",
            "why_ensembles",
            "forests",
            "boosting",
            "explaining",
            "decisions",
        )
    ],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "reset_modules": ("matplotlib",),
    "abort_on_example_error": True,
    "parallel": True,  # as many as Sphinx has processes
}


def write_inline_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_display_math(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def write_examples(app: Sphinx, error: Exception | None) -> None:
    """Write the pages of a small study that the guide shows: they are those of today's code."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "examples"
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as made:
        study = Path(made) / "cancer"
        models = "logistic,cart,random_forest"
        result = Study("breast_cancer", target="target", output_dir=study, models=models).run()
        shutil.copy(write_page(study).path, folder / "page.html")
        shutil.copy(result.report, folder / "report.html")
        result.explain(9).save(folder / "explained_row.html")


def leave_out(
    _app: Sphinx, _what: str, name: str, _obj: object, skip: bool, _options: object
) -> bool:
    """scikit-learn's `set_output` refers to pages of scikit-learn's own documentation."""
    return skip or name == "set_output"


def setup(app: Sphinx) -> None:
    """Formulas become MathML at build time: the pages need no script from elsewhere."""
    app.add_html_math_renderer("mathml", (write_inline_math, None), (write_display_math, None))
    app.connect("autodoc-skip-member", leave_out)
    app.connect("build-finished", write_examples)
