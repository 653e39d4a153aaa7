"""Public fakes for tests of Outlast and of what is built on it. Production code never imports this package."""
