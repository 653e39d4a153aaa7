"""What administrators of a server do: users, their plans and credits, items that were set aside."""
