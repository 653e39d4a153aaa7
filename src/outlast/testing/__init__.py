"""Public fakes for tests of Outlast and of programs built on it. Production code never imports this package."""
