"""Snapshots: what sandboxes start from, with everything installed that the configuration names.

A *snapshot* is made once per *recipe* (dependencies with versions, set-up commands, template, the provider's base)
and never changed; its *name* is the hash of the recipe. A *build* makes one inside a sandbox of its own, which reaches
the *package indexes* of this server and nothing else. The *keeper* has the one that the configuration asks for built,
tells those who wait how far it is, falls back to the newest older one when a build fails, and removes those that nobody
has started from for long.

States: `building` → `ready` | `failed` (tried again after a while, at the next start, or by hand).
"""
