"""The providers that ship with Outlast. Each passes the behaviour suite in `tests/sandbox`."""
