"""What every agent is made with: its conversation as a model is told it, its workspace, and tools."""
