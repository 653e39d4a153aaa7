"""Changes to a document: applied, compared, merged with concurrent changes, and written as a version."""
