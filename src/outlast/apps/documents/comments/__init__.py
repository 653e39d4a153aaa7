"""Comments on a document, a section, a block or a quote, which is found again as the text changes."""
