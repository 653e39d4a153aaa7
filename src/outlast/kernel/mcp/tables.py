"""MCP servers of projects and of the code of agents, the tools that they offer, and services on which people have
accounts, which are rows beside them: connections, sign-ins and questions for accounts are the same for both."""

from typing import Final

import sqlalchemy as sa

from outlast.db.columns import count, json, metadata, moment, own_id, partial_index, ref, soft_ref, text, word

mcp_servers = sa.Table(
    "mcp_servers",
    metadata,
    own_id(),
    ref("project_id", "projects", "of; null: of every project, of the code of agents, or a person's own"),
    soft_ref("owner_id", "a person's own, for the runs that they start in every project; null: it is not"),
    word("code_key", "of one that agents' code or the configuration names: hash of its name and address"),
    word("name", "the first part of its tools' names", nullable=False),
    text("url", "its address; empty for a package", nullable=False),
    text("command", "of a package: npx or uvx, the package and its arguments; null: it has an address"),
    json("hosts", "hosts that a package may reach; null: none"),
    json("secrets", "secrets whose placeholders a package gets; null: none"),
    json("installed", "version, digest and program of an installed package; null: it is not installed yet"),
    word("header", "name of the header that carries the secret; null: none"),
    word("secret", "name of the saved secret that the header carries; null: none"),
    word("login", "user: each person connects their own account; null: none"),
    ref("created_by", "users", "who added it; null: of the code of agents"),
    moment("created_at", "when", nullable=False),
    moment("listed_at", "when its tools were last listed; null: never"),
    text("problem", "why they could not be listed the last time; null: they were"),
    count("tries", "listings that failed since the last one that did not"),
    moment("retry_at", "when they may be listed again, after one that failed"),
    word("kind", "of a service of [[connections]], which is no MCP server; null: an MCP server"),
    moment("passed_at", "of a service: when `outlast doctor --connections` last passed; null: never"),
    sa.Index("uq_mcp_servers_project_id_name", "project_id", "name", unique=True),
    sa.Index("uq_mcp_servers_owner_id_name", "owner_id", "name", unique=True),
    sa.Index("uq_mcp_servers_code_key", "code_key", unique=True),
)

OF_SERVER: Final = sa.and_(*(mcp_servers.c[name].is_(None) for name in ("project_id", "owner_id", "code_key")))
partial_index("uq_mcp_servers_server", mcp_servers.c.name, OF_SERVER)

mcp_tools = sa.Table(
    "mcp_tools",
    metadata,
    ref("server_id", "mcp_servers", "of", nullable=False, primary_key=True),
    sa.Column("name", sa.String(128), primary_key=True, comment="as the server calls it"),
    word("call_name", "as models call it", nullable=False),
    json("definition", "as the server last described it", nullable=False),
    word("digest", "hash of the definition", nullable=False),
    sa.Column("listed", sa.Boolean, nullable=False, comment="it was in the last listing"),
    json("allowed_definition", "as it was described when it was allowed; null: it is not allowed"),
    word("allowed_digest", "hash of that; offered while it is the same as the digest"),
    soft_ref("allowed_by", "who allowed it"),
    moment("allowed_at", "when"),
)
