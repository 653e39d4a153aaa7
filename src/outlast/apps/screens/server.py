"""What the screens app opens once per server."""

from functools import partial

from outlast.apps.screens.agent.agent import screen_agent
from outlast.apps.screens.open_actions import work_on
from outlast.apps.screens.screen_queue import ScreenQueue
from outlast.kernel.apps.opened import Opened, Opening


def open_app(opening: Opening) -> Opened:
    """The agent `screen`, and the service that opens screens."""
    run = partial(work_on, opening.states[ScreenQueue])
    return Opened(agents=[screen_agent(opening)], tasks={"opening of screens": run})
