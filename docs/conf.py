"""Sphinx: plain pages, no network, formulas as MathML."""

from docutils import nodes
from docutils.utils.math import MathError, pick_math_environment
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

project = "crucible_nb"
author = "The crucible_nb authors"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = [
    "amsmath",
    "attrs_block",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
    "strikethrough",
]
myst_all_links_external = True  # build.py makes and checks every link
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "myst.strikethrough"]
add_module_names = False
smartquotes = False
python_display_short_literal_types = True
copybutton_selector = "div.highlight-python pre"
html_theme = "furo"
html_title = project
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_math_renderer = "mathml"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#005a9c", "color-brand-content": "#005a9c"},
    "dark_css_variables": {"color-brand-primary": "#79b8ff", "color-brand-content": "#79b8ff"},
}
log = logging.getLogger(__name__)


def math(translator, node, block):
    """Append a formula as MathML."""
    source = node.astext()
    if block and "\\begin" not in source and "\\\\" in source:
        source = f"\\begin{{{pick_math_environment(source)}}}{source}\\end{{{pick_math_environment(source)}}}"
    try:
        made = tex2mathml(source, as_block=block)
    except MathError as problem:
        log.warning("a formula that MathML can not show: %s: %s", source, problem, location=node)
        made = ""
    # a bar is a fence here, never the relation that MathML puts blanks around
    made = made.replace('<mo stretchy="false">|</mo>', '<mo lspace="0" rspace="0" stretchy="false">|</mo>')
    translator.body.append(f'<div class="math">{made}</div>' if block else made)
    raise nodes.SkipNode


def setup(app):
    """Add the renderer of formulas."""
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: math(translator, node, False), None),
        (lambda translator, node: math(translator, node, True), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
