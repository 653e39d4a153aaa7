"""The agent that finds the options of a poll."""

from collections.abc import Sequence

from outlast import Agent, Context, tool
from outlast.db.database import Database, Tx
from outlast.kernel.settings import Settings
from tests.apps.polls import store


def poll_agents(settings: Settings, db: Database) -> Sequence[Agent]:
    """The agent `poll`. Its thread's poll is the one that it works on."""

    @tool(repeatable=True)
    async def offer_options(ctx: Context, options: list[str]) -> str:
        """Set the options that people choose from."""

        def run(tx: Tx) -> str:
            poll = store.poll_of(tx, thread_id=ctx.run.thread_id)
            return store.change(tx, poll.id, options=options).title

        return f"People can vote on: {await db.write(run)}"

    return [Agent("poll", instructions="Find 2 to 5 options for the question.", tools=[offer_options])]
