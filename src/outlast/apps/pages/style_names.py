"""Which CSS properties and functions a style attribute may use. Constants only."""

from typing import Final

from outlast.base.data_files import read_names

STYLE_PROPERTIES: Final = read_names(__file__, "style_properties")
STYLE_FUNCTIONS: Final = read_names(__file__, "style_functions")
