"""Screens."""

import sqlalchemy as sa

from outlast.db.columns import choice, flag, json, metadata, moment, own_id, ref, text, word
from outlast.db.lock_order import Place, locked_as

screens = sa.Table(
    "screens",
    metadata,
    own_id(),
    ref("project_id", "projects", "on whose canvas", nullable=False, index=True),
    ref("thread_id", "threads", "the conversation that builds it", nullable=False, unique=True),
    sa.Column("workspace_id", sa.String(40), nullable=False, unique=True, comment="holds its files"),
    text("title", "shown above it", nullable=False),
    flag("named", "a person chose the title, so the agent's is not taken"),
    choice("template", ["next", "vite"], comment="what its app began as: next | vite"),
    word("theme", "id of its theme, or custom", nullable=False),
    json("theme_tokens", "a custom theme's tokens: {light: {name: colour}, dark: {…}}; null: a named theme"),
    sa.Column("x", sa.Integer, nullable=False, comment="left edge on the canvas, CSS pixels"),
    sa.Column("y", sa.Integer, nullable=False, comment="top edge, downwards"),
    sa.Column("width", sa.Integer, nullable=False, comment="of its frame"),
    sa.Column("height", sa.Integer, nullable=False, comment="of its frame"),
    json("files", "what the agent said of its files: list of {path, description}", nullable=False),
    json("problems", "what is wrong with it since its last run; empty: nothing known", nullable=False),
    text("trouble", "why its sandbox could not be had when it was last opened; null: it could, or was never opened"),
    sa.Column("picture_id", sa.String(40), comment="the attachment with its last screenshot; null: none yet"),
    moment("pictured_at", "when that was taken"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change of the row, moves included", nullable=False),
    info=locked_as(Place.SUBJECT),
)

screen_image_hosts = sa.Table(
    "screen_image_hosts",
    metadata,
    ref("screen_id", "screens", "of", nullable=False, primary_key=True),
    sa.Column("host", sa.String(300), primary_key=True, comment="whose pictures it wants to load: HOST or HOST:PORT"),
    moment("asked_at", "when a browser first blocked one, or a member named the host", nullable=False),
    ref("allowed_by", "users", "null: blocked"),
    moment("allowed_at", "null: blocked"),
)
