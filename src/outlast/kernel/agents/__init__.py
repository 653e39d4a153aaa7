"""What every agent is made with: its conversation as a model reads it, its workspace, and tools."""
