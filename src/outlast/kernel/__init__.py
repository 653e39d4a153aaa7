"""What makes any work outlast everything; the apps stand on it."""
