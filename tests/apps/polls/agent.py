"""The agent that finds the options of a poll."""

from outlast import Agent, Context, tool
from outlast.db.database import Tx
from outlast.kernel.apps.opened import Opened, Opening
from tests.apps.polls import store


def open_app(opening: Opening) -> Opened:
    """The agent `poll`. Its thread's poll is the one that it works on."""

    @tool(repeatable=True)
    async def offer_options(ctx: Context, options: list[str]) -> str:
        """Set the options that people choose from."""

        def run(tx: Tx) -> str:
            poll = store.poll_of(tx, thread_id=ctx.this_run.thread_id)
            return store.change(tx, poll.id, options=options).title

        return f"People can vote on: {await opening.database.write(run)}"

    agent = Agent("poll", instructions="Find 2 to 5 options for the question.", tools=[offer_options])
    return Opened(agents=[agent])
