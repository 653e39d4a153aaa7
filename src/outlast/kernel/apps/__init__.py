"""Apps: packages with a module `app` that holds `APP = App(…)` and, where they have commands, with `COMMANDS`: their
groups, each with the module of its verbs. `outlast.apps.APPS` lists them; the registry answers what they declare, and
refuses what two do."""
