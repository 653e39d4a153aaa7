"""Administration of a server: users, their plans and credits, items that were set aside."""
