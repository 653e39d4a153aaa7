"""The actor's credits."""

from outlast.kernel.accounts.actor import Actor
from outlast.kernel.credits import store as credits  # noqa: A004 - the room's word
from outlast.kernel.credits.shapes import CreditsAnswer
from outlast.kernel.services import Services


async def read_credits(services: Services, actor: Actor) -> CreditsAnswer:
    """The actor's plan, balance, reservations and last ledger rows."""
    settings = services.settings.credits
    return await services.db.read(credits.credits_data, actor.user_id, settings.plans, settings.low_at)
