"""Comments on a document, a section, a block or a quote, which is located again as the text changes."""
