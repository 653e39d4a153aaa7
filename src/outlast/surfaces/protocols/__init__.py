"""Third-party protocols, translated to our actions."""
