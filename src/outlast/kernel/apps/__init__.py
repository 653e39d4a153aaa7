"""Apps: packages with a module `app` that defines `APP = App(…)`, and optionally with `COMMANDS` (groups, each with the
module of its verbs) and `SETTINGS` (tables of settings by name). `outlast.apps.APPS` lists them; the registry joins
their declarations, and refuses duplicates."""
