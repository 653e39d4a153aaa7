"""Agents that speak the Agent Client Protocol (ACP) as guests: each is a process in the sandbox of its run."""
