"""Apps: packages with a module `app` that holds `APP = App(…)` and, where they have them, with `COMMANDS`: groups,
each with the module of its verbs, and `SETTINGS`: tables of settings by name. `outlast.apps.APPS` lists them; the
registry answers what they declare, and refuses what two do."""
