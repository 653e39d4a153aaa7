"""Which elements and attributes drawings (SVG) on pages may have. Constants only."""

from typing import Final

from outlast.base.data_files import read_names

SVG: Final = read_names(__file__, "svg_elements")
SVG_ATTRIBUTES: Final = read_names(__file__, "svg_attributes")
