"""Generates the schemas in `contract/` and the pages in `docs/reference/`.

`python -m scripts.contract` writes them (`make gen`); with `--check` it names those that are out of date. What
they say is taken from the code itself: the routes, the event union, the error tree, the settings tables, the commands.
"""
