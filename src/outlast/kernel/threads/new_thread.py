"""Checks of new threads: their fields, and the rate per user."""

from typing import Any

from outlast.base.errors import MalformedInput, UnknownProfile
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry as apps
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.services import Services
from outlast.kernel.subjects import registry
from outlast.kernel.threads.rules import checked_anchor
from outlast.kernel.threads.tables import threads


def check_thread_rate(tx: Tx, services: Services, actor: Actor) -> None:
    """Raise `RateLimited` when the actor has reached the limit of new threads a minute."""
    check_made_rate(tx, threads, actor.user_id, services.settings.limits.threads_per_minute_per_user)


def new_thread_fields(services: Services, title: str | None, profile: str, anchor: Any) -> dict[str, Any]:
    """A new thread's fields, checked. Raises `MalformedInput`, `InputTooLarge`, `UnknownProfile`."""
    demand_profile(services, profile)
    kind = registry.subject(profile)
    if kind is not None and kind.fork is not None:
        raise MalformedInput(
            f"A thread of the profile {profile} is created with its {kind.noun}.",
            hint=f"POST /v1/projects/{{id}}/{kind.table.name} creates both; start runs on the {kind.noun}'s thread.",
            field="profile",
        )
    return {
        "title": None if title is None else checked_line("The title", title, services.settings.limits.title_chars),
        "profile": profile,
        "anchor": checked_anchor(anchor, apps.load().anchors),
    }


def demand_profile(services: Services, profile: str) -> None:
    """Raise `UnknownProfile` unless an agent profile of this name is registered."""
    listed = services.engine.agents.listed
    if profile not in listed:
        known = ", ".join(sorted(listed))
        raise UnknownProfile("There is no agent profile with this name.", hint=f"Profiles: {known}.", field="profile")
