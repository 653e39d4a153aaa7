"""A document's sections and blocks: as a tree, in their order, from Markdown and into it. Pure, but for its rows."""
