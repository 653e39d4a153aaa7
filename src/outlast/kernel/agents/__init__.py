"""The parts of every agent: its conversation for the model, its workspace, and its tools."""
