"""Snapshots: the images that sandboxes start from, with everything installed that the configuration names.

A *snapshot* is made once per *recipe* (dependencies with versions, set-up commands, template, the provider's base) and
never changed; its *name* is the hash of the recipe. A *build* makes one inside its own sandbox, which reaches only the
*package indexes* of this server. The *keeper* has the configured snapshot built, reports the progress to waiting
projects, falls back to the newest older one if a build fails, and removes those that were unused for long.

States: `building` → `ready` | `failed` (tried again after a while, at the next start, or by hand).
"""
