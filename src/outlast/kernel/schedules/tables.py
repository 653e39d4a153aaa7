"""Schedules of projects."""

import sqlalchemy as sa

from outlast.db.columns import choice, flag, json, metadata, moment, own_id, partial_index, ref, soft_ref, text, word
from outlast.db.lock_order import Place, locked_as

schedules = sa.Table(
    "schedules",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    ref("created_by", "users", "who made it; its runs start as this user", nullable=False),
    choice("origin", ["person", "code"], "person | code: of the operator's agents, and follows them", chars=10),
    text("title", "shown", nullable=False),
    word("agent", "name of the agent", nullable=False),
    text("message", "what the agent is sent; empty: a flow", nullable=False),
    text("model", "model id; null: the agent's, or the default"),
    text("cron", "five fields", nullable=False),
    text("zone", "IANA time zone of the cron expression", nullable=False),
    choice("on_missed", ["skip", "one"], "missed due times start no run | one run for all of them", chars=10),
    choice("thread", ["same", "new"], "all runs in one thread | each in a new one", chars=10),
    flag("enabled", "false: paused"),
    moment("next_at", "the earliest due time that was not handled; null: paused, or none"),
    flag("put_off", "a limit keeps the due time waiting, so it is not missed"),
    soft_ref("thread_id", "the one thread of its runs; null: none yet, or each has its own"),
    soft_ref("last_run_id", "the newest run; null: none yet"),
    json("problem", "code, message and hint: why the last due time started no run; null: it did"),
    moment("refused_at", "since then due times are refused, and its maker is notified; null: they are not"),
    moment("seen_at", "the maker has read that; null: it waits in the inbox"),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change by a person, or of the code", nullable=False),
    sa.Index("ix_schedules_project", "project_id", "id"),
    sa.Index("ix_schedules_refused", "created_by", "refused_at"),
    info=locked_as(Place.SCHEDULE),
)

code_index = partial_index("uq_schedules_code", schedules.c.agent, where=schedules.c.origin == "code")
