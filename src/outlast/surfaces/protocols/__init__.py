"""Protocols that other people's programs speak, translated to our actions."""
