"""Changes of a document: applied, compared, merged with what others wrote meanwhile, and written as a version."""
