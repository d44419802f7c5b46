"""The docs site: `./run docs` writes it into target/site, from the pages as they stand.

The whole project is Sphinx's source folder, so that a link from one page to another has the same
path here as on a code host.  A link to a file that is no page becomes a download of this file.
"""

import sys
from importlib import metadata
from importlib.resources import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pages import ROOT_PAGE

project = "cdc_marts"
version = release = metadata.version("cdc-marts")
html_title = f"{project} {release}"

extensions = ["myst_parser", "pages"]
root_doc = ROOT_PAGE
include_patterns = ["*.md", "docs/**", "packages/*/*.md"]
# Folders that Sphinx need not walk through.
exclude_patterns = [".*", "logs", "src", "target", "tests"]

# Headings have the anchors of a code host, and what only MyST reads as syntax is text.
myst_heading_anchors = 6
myst_disable_syntax = ["myst_block_break", "myst_line_comment", "myst_role"]
smartquotes = False
nitpicky = True
# SQL with Jinja in it is shown as far as Pygments reads it.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_copy_source = False
html_show_copyright = False
# The pages name no terms of Sphinx's index.
html_use_index = False
# A page that is opened as a file may not fetch others, so results of a search come without texts.
html_show_search_summary = False
html_static_path = ["static", str(files("mermaidx") / "assets" / "mermaid.js")]
html_css_files = ["site.css"]
