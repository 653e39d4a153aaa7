"""Protocols of other programs, translated to our actions."""
