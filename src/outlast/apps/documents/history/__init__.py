"""What a document was: its versions, what lies between two of them, and taking one of them back."""
