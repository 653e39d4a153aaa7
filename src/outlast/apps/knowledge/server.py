"""What the knowledge app opens once per server."""

import sys
from functools import partial
from pathlib import Path

from outlast.apps.knowledge.agent.library_code import LibraryCode
from outlast.apps.knowledge.agent.search_docs import search_docs_tool
from outlast.apps.knowledge.memories.addition import memory_addition
from outlast.apps.knowledge.memories.ports import KNOWN_SECRETS
from outlast.apps.knowledge.module_store import Modules, dependencies_hash
from outlast.apps.knowledge.readers.own_docs import own_docs
from outlast.apps.knowledge.readers.packages import PackageReader, Registries
from outlast.apps.knowledge.readers.reader import SourceReader
from outlast.apps.knowledge.reranker import Reranker
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.settings import (
    PRIVATE_HINT,
    SOURCE_BYTES,
    KnowledgeSettings,
    MemorySettings,
    RerankSettings,
)
from outlast.apps.knowledge.source_keeper import Followed, SourceKeeper
from outlast.apps.knowledge.sources import configured_sources
from outlast.apps.knowledge.vector_keeper import VectorKeeper
from outlast.base.supervision.supervisor import Run
from outlast.kernel.agents.tools.run_code import AROUND_CODE
from outlast.kernel.apps.opened import Opened, Opening
from outlast.kernel.library.modules import USABLE_MODULES
from outlast.kernel.library.search import SEARCH, SEARCH_DOCS
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.embedders import OpenAIEmbedder
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.sandboxes.snapshots.installed import InstalledPackages
from outlast.kernel.web.http_fetch import Fetcher, Wording
from outlast_sandbox.package_indexes import NPM, read_indexes
from outlast_sandbox.package_names import parse_package


def open_app(opening: Opening) -> Opened:
    """Search, saved modules, memory, and the services that keep documentation up to date."""
    settings, database, sandbox = opening.settings, opening.database, opening.settings.sandbox
    remembers = settings.of(MemorySettings).enabled
    dependencies = () if sandbox is None else sandbox.dependencies
    packages = [parse_package(one.package) for one in dependencies if one.package]
    installed = dependencies_hash(packages, () if sandbox is None else sandbox.setup)
    modules = Modules(database, opening.sandboxes.checkpoints, installed)
    connections = Connections()
    opening.closing.push_async_callback(connections.aclose)
    embedder = _open_embedder(opening, connections)
    knowledge = Knowledge(
        database,
        opening.clock,
        folder=opening.folder / "search",
        embedder=embedder,
        modules=modules,
        reranker=_open_reranker(opening, connections),
        rerank_candidates=settings.of(RerankSettings).candidates,
        supervisor=opening.supervisor,
        remembers=remembers,
    )
    followed = partial(opening.hub.followed, "prj_")
    keeper = _open_sources(opening, followed, "" if embedder is None else embedder.model)
    tasks: dict[str, Run] = {"search indexes": knowledge.run, "documentation sources": keeper.run}
    secrets = opening.known_secrets()
    implements = [
        KNOWN_SECRETS.by(secrets),
        SEARCH.by(knowledge),
        SEARCH_DOCS.by(search_docs_tool(knowledge, database, settings.of(KnowledgeSettings).results)),
        USABLE_MODULES.by(modules),
        AROUND_CODE.by(LibraryCode(dependencies, database, modules, opening.blobs)),
    ]
    if embedder is not None:
        batch, supervisor = settings.embeddings.batch, opening.supervisor
        tasks["embedding"] = VectorKeeper(database, opening.clock, embedder, followed, batch, supervisor).run
    additions = [memory_addition(database, settings, knowledge, secrets)] if remembers else []
    return Opened(implements=implements, tasks=tasks, additions=additions)


def _open_embedder(opening: Opening, connections: Connections) -> OpenAIEmbedder | None:
    """The configured embedder, or None if search uses words alone."""
    asked = opening.settings.embeddings
    key = ApiKey(opening.environment.get(asked.api_key_env, ""))
    return OpenAIEmbedder(connections, opening.clock, asked, key) if asked.url else None


def _open_reranker(opening: Opening, connections: Connections) -> Reranker | None:
    """The configured re-ranker of hits, if any."""
    asked = opening.settings.of(RerankSettings)
    key = opening.environment.get(asked.api_key_env, "")
    return Reranker(connections, asked.url, asked.model, key, asked.timeout_s) if asked.url else None


def _open_sources(opening: Opening, followed: Followed, model: str) -> SourceKeeper:
    """The documentation sources of the configuration and those of users. `model` is the embedder's, or empty."""
    asked, sandboxes = opening.settings.of(KnowledgeSettings), opening.sandboxes
    wording = Wording("documentation index", too_large=SOURCE_BYTES, private=PRIVATE_HINT)
    fetcher = Fetcher(asked.timeout_s, opening.clock, wording)
    opening.closing.push_async_callback(fetcher.aclose)
    installed = None
    if sandboxes.manager is not None and sandboxes.snapshots is not None:
        installed = InstalledPackages(sandboxes.manager.provider, sandboxes.snapshots)
    packages = PackageReader(fetcher, installed, _registries, asked.source_bytes)
    keeper = SourceKeeper(
        opening.database,
        opening.clock,
        asked,
        SourceReader(fetcher, packages, asked.source_bytes, asked.pages_per_source),
        [*configured_sources(opening.settings.sandbox, asked), *own_docs()],
        model=model,
        followed=followed,
        supervisor=opening.supervisor,
    )
    if sandboxes.snapshots is not None:
        sandboxes.snapshots.on_built(keeper.packages_changed)
    return keeper


def _registries() -> Registries:
    """The package indexes that pip and npm are configured with on this machine. Blocking."""
    found = read_indexes(Path(sys.executable))
    words = " ".join(found.pip.get(name, "") for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"))
    scopes = dict(line.split(":registry=", 1) for line in found.npmrc.splitlines())
    default = found.npm.get("NPM_CONFIG_REGISTRY", NPM)
    return Registries({"": default, **scopes}, tuple(words.split()), found.allowed)
