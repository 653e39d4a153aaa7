"""Earlier versions of a document, the differences between them, and undoing one of them."""
