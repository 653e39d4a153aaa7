"""Previews: who may see a port of a sandbox in a browser, and which ports something listens on."""
