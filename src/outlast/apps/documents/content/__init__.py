"""A document's sections and blocks: as a tree, in order, from Markdown and into it. Pure, except for the records."""
