"""What agents propose about a document, and what people decide about it, edit by edit."""
