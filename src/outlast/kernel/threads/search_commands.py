"""`outlast search …`: the search index, straight in the database."""

import typer

from outlast.kernel.cli.consoles import out
from outlast.kernel.cli.options import ConfigOption, DataDirOption, read_settings

app = typer.Typer(
    no_args_is_help=True, help="The search index; opens the database, also beside a running server."
)


@app.callback()
def _group() -> None:
    """So that a single command keeps its name."""


@app.command()
def rebuild(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Make the index of titles and messages anew from what they say. Nothing else changes; repeating is harmless."""
    from outlast.kernel.cli.admin import Admin

    count = Admin(read_settings(config, data_dir)).rebuild_search()
    out.print(f"The search index has {count} entries.")
