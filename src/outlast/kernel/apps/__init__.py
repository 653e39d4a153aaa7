"""Apps: packages with a module `app` that holds `APP = App(…)` and, where they have commands, a module `commands` that
holds `COMMANDS`. `outlast.apps.APPS` lists them; the registry answers what they declare, and refuses what two do."""
