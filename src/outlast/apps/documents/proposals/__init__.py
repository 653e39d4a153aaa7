"""Edits that agents propose for a document, and people's decisions about each."""
