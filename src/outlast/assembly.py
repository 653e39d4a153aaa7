"""Opens the rooms that `app.py` starts, as the settings say: models, sandboxes and their services."""

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from outlast.apps.knowledge.http_fetch import Fetcher
from outlast.apps.knowledge.module_store import Modules, dependencies_hash
from outlast.apps.knowledge.readers.own_docs import own_docs
from outlast.apps.knowledge.readers.packages import PackageReader, Registries
from outlast.apps.knowledge.readers.reader import SourceReader
from outlast.apps.knowledge.reranker import Reranker
from outlast.apps.knowledge.search import Knowledge, QueryEmbedder
from outlast.apps.knowledge.settings import KnowledgeSettings, RerankSettings
from outlast.apps.knowledge.source_keeper import Followed, SourceKeeper
from outlast.apps.knowledge.sources import configured_sources
from outlast.apps.knowledge.vector_keeper import VectorKeeper
from outlast.base.clock import SystemClock
from outlast.base.data_directory import node_of
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.files.keeper import ArtifactKeeper
from outlast.kernel.files.settings import FileSettings
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.models.embedders import OpenAIEmbedder
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import ProviderConfig
from outlast.kernel.runs.sweeper import SandboxSteps
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.egress.delegated import HandedOver
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.egress.secret_lookup import open_lookup
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.providers import open_provider
from outlast.kernel.sandboxes.seeds import Seeds
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.logs import ServiceLogs
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.snapshots.installed import InstalledPackages
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.studio import open_studio
from outlast.kernel.sandboxes.templates import Templates, preview_environment
from outlast.kernel.services import SandboxServices
from outlast.kernel.settings import Settings
from outlast_sandbox.egress.redaction import Redactor
from outlast_sandbox.egress.rules import names
from outlast_sandbox.egress.secrets import OperatorSecrets
from outlast_sandbox.package_indexes import NPM as NPM_REGISTRY
from outlast_sandbox.package_indexes import read_indexes
from outlast_sandbox.package_names import parse_package

log = logging.getLogger("outlast.app")


@dataclass(frozen=True, slots=True)
class Base:
    """The arguments that open every room. `folder` is the data directory; `environment` holds the values of secrets."""

    settings: Settings
    database: Database
    blobs: FolderBlobs
    clock: SystemClock
    folder: Path
    environment: Mapping[str, str]
    connections: Connections
    supervisor: Supervisor


def known_secrets(base: Base) -> Redactor:
    """Redacts keys and secrets that this server finds in its environment: no log may show them."""
    settings = base.settings
    names = [provider.api_key_env for provider in settings.providers.values()]
    names += [settings.embeddings.api_key_env, settings.of(RerankSettings).api_key_env]
    if settings.sandbox is not None:
        names += [dependency.secret_env for dependency in settings.sandbox.dependencies]
    return Redactor(base.environment.get(name, "").encode() for name in names if name)


def open_catalog(settings: Settings, clock: SystemClock) -> ModelCatalog:
    """The configured models. Keys come from the environment variables that the settings name."""
    providers = [
        ProviderConfig(name=name, **{field.name: getattr(provider, field.name) for field in fields(provider)})
        for name, provider in settings.providers.items()
    ]
    return ModelCatalog(
        providers, settings.models, secret=os.environ.get, default_model=settings.default_model, clock=clock
    )


def open_sandboxes(base: Base, templates: Templates) -> SandboxServices:
    """The services of sandboxes. `warm` needs the agents, so the caller adds it."""
    seeds = Seeds(base.blobs, templates)
    asked = base.settings.sandbox
    if asked is None:
        return SandboxServices(seeds=seeds)
    database, clock, folder, supervisor = base.database, base.clock, base.folder, base.supervisor
    node_id = node_of(folder)
    manager = SandboxManager(
        database, open_provider(asked, folder), clock, asked, folder, node_id=node_id, supervisor=supervisor
    )
    snapshots = SnapshotKeeper(
        database,
        manager.provider,
        clock,
        asked,
        node_id=node_id,
        templates=templates,
        env=preview_environment(asked),
        supervisor=supervisor,
    )
    logs = ServiceLogs(folder / "services", known_secrets(base).hide)
    keeper = ServiceKeeper(database, clock, logs, find=manager.find, supervisor=supervisor)
    checkpoints = CheckpointKeeper(
        database,
        base.blobs,
        clock,
        asked,
        folder,
        node_id=node_id,
        local=manager.provider.capabilities.volume,
        find=manager.find,
        keep_unbound=timedelta(days=base.settings.retention.error_days),
        layers_of=manager.layers_of,
        supervisor=supervisor,
    )
    manager.lives.templates, manager.lives.snapshots, manager.lives.files = templates, snapshots, checkpoints
    manager.attend(keeper)
    manager.attend(checkpoints)
    return SandboxServices(
        manager=manager,
        keeper=keeper,
        checkpoints=checkpoints,
        snapshots=snapshots,
        egress=_egress_keeper(base, asked, manager),
        studio=open_studio(base.settings.screens, clock, folder),
        steps=SandboxSteps(manager.freeze, manager.thaw, manager.kill, manager.stop_commands),
        seeds=seeds,
        want_snapshot=snapshots.want,
    )


def _egress_keeper(base: Base, asked: SandboxSettings, manager: SandboxManager) -> EgressKeeper | None:
    """Gives sandboxes their network access; None if the provider does, or if there is nothing to reach."""
    policy, capabilities = policy_of(asked), manager.provider.capabilities
    if capabilities.secrets:
        if policy.opens:
            manager.lives.way_out = HandedOver(base.database, asked)
        return None
    if not capabilities.egress:
        if policy.opens:
            log.warning(
                "sandboxes of this provider have no network access, so hosts and secrets cannot be opened to them",
                extra={"provider": manager.provider.name},
            )
        return None
    lookup = open_lookup(asked.secret_lookup, base.environment)
    missing = [name for name in names(policy) if isinstance(lookup, OperatorSecrets) and not lookup.has(name)]
    if missing:
        log.warning("secrets without a value: their environment variables are not set", extra={"names": missing})
    keeper = EgressKeeper(
        base.database, base.clock, policy, base.folder / "egress", lookup=lookup, supervisor=base.supervisor
    )
    if not keeper.is_needed:
        return None
    manager.lives.way_out = keeper
    base.database.on_notice(keeper.on_commit)
    return keeper


def open_knowledge(base: Base, embedder: QueryEmbedder | None, modules: Modules) -> Knowledge:
    """Search in documentation and modules, with the configured re-ranker, if any. Its indexes are kept in the data
    directory."""
    asked = base.settings.of(RerankSettings)
    reranker = None
    if asked.url:
        key = base.environment.get(asked.api_key_env, "")
        reranker = Reranker(base.connections, asked.url, asked.model, key, asked.timeout_s)
    return Knowledge(
        base.database,
        base.clock,
        folder=base.folder / "search",
        embedder=embedder,
        modules=modules,
        reranker=reranker,
        rerank_candidates=asked.candidates,
        supervisor=base.supervisor,
    )


def open_embedder(base: Base) -> OpenAIEmbedder | None:
    """The configured embedder, or None if search uses words alone."""
    asked = base.settings.embeddings
    if not asked.url:
        return None
    return OpenAIEmbedder(base.connections, base.clock, asked, ApiKey(base.environment.get(asked.api_key_env, "")))


class Sources(NamedTuple):
    """`keeper` updates documentation, `artifacts` reads the files of projects, `vectors` embeds both."""

    keeper: SourceKeeper
    artifacts: ArtifactKeeper
    vectors: VectorKeeper | None


def open_sources(
    base: Base, fetcher: Fetcher, sandboxes: SandboxServices, embedder: OpenAIEmbedder | None, followed: Followed
) -> Sources:
    """The readers of documentation sources: those of the configuration and those of users."""
    asked = base.settings.of(KnowledgeSettings)
    installed = None
    if sandboxes.manager is not None and sandboxes.snapshots is not None:
        installed = InstalledPackages(sandboxes.manager.provider, sandboxes.snapshots)
    packages = PackageReader(fetcher, installed, _registries, asked.source_bytes)
    keeper = SourceKeeper(
        base.database,
        base.clock,
        asked,
        SourceReader(fetcher, packages, asked.source_bytes, asked.pages_per_source),
        [*configured_sources(base.settings.sandbox, asked), *own_docs()],
        model=embedder.model if embedder is not None else "",
        followed=followed,
        supervisor=base.supervisor,
    )
    if sandboxes.snapshots is not None:
        sandboxes.snapshots.on_built(keeper.packages_changed)
    vectors = None
    if embedder is not None:
        batch = base.settings.embeddings.batch
        vectors = VectorKeeper(base.database, base.clock, embedder, followed, batch=batch, supervisor=base.supervisor)
    artifacts = ArtifactKeeper(
        base.database,
        base.clock,
        base.blobs,
        passage_chars=asked.passage_chars,
        most_s=base.settings.of(FileSettings).artifact_read_s,
        supervisor=base.supervisor,
    )
    return Sources(keeper, artifacts, vectors)


def _registries() -> Registries:
    """The package indexes that pip and npm are configured with on this machine. Blocking."""
    found = read_indexes(Path(sys.executable))
    words = " ".join(found.pip.get(name, "") for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"))
    scopes = dict(line.split(":registry=", 1) for line in found.npmrc.splitlines())
    default = found.npm.get("NPM_CONFIG_REGISTRY", NPM_REGISTRY)
    return Registries({"": default, **scopes}, tuple(words.split()), found.allowed)


def open_modules(base: Base, files: CheckpointKeeper | None) -> Modules:
    """The library of saved modules."""
    asked = base.settings.sandbox
    packages = [] if asked is None else [one.package for one in asked.dependencies if one.package]
    commands = () if asked is None else asked.setup
    return Modules(base.database, files, dependencies_hash(map(parse_package, packages), commands))
