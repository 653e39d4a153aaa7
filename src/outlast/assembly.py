"""Opens the kernel's rooms that `app.py` starts, as the settings say: models, sandboxes and their services."""

import logging
import os
from dataclasses import fields
from datetime import timedelta

from outlast.base.clock import Clock
from outlast.base.data_directory import node_of
from outlast.kernel.apps.opened import Opening
from outlast.kernel.connections.account_tokens import AccountTokens
from outlast.kernel.connections.oauth_client import OAuth
from outlast.kernel.http.web_addresses import allowed_addresses
from outlast.kernel.models.catalog import ModelCatalog
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
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.studio import open_studio
from outlast.kernel.sandboxes.templates import preview_environment
from outlast.kernel.secrets.saved_secrets import SavedSecrets
from outlast.kernel.services import SandboxServices
from outlast.kernel.settings import Settings
from outlast_sandbox.egress.rules import names
from outlast_sandbox.egress.secrets import OperatorSecrets

log = logging.getLogger("outlast.app")


def open_catalog(settings: Settings, clock: Clock) -> ModelCatalog:
    """The configured models. Keys come from the environment variables that the settings name."""
    providers = [
        ProviderConfig(name=name, **{field.name: getattr(provider, field.name) for field in fields(provider)})
        for name, provider in settings.providers.items()
    ]
    return ModelCatalog(
        providers, settings.models, secret=os.environ.get, default_model=settings.default_model, clock=clock
    )


def open_accounts(opening: Opening) -> AccountTokens:
    """The accounts of people on other servers. Addresses that MCP servers may have, their sign-in servers may too."""
    allowed, configured = allowed_addresses(opening.settings.mcp.allow_private), opening.settings.connections
    oauth = OAuth(allowed, configured, opening.environment.get)
    return AccountTokens(opening.database, opening.vault, oauth, opening.clock)


def open_sandboxes(opening: Opening) -> SandboxServices:
    """The services of sandboxes. `warm` needs the agents, so the caller adds it."""
    asked, templates = opening.settings.sandbox, opening.templates
    seeds = Seeds(opening.blobs, templates)
    if asked is None:
        return SandboxServices(seeds=seeds)
    database, clock, folder, supervisor = opening.database, opening.clock, opening.folder, opening.supervisor
    node_id = node_of(folder)
    manager = SandboxManager(
        database, open_provider(asked, folder), clock, asked, folder, node_id=node_id, supervisor=supervisor
    )
    opening.closing.push_async_callback(manager.aclose)
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
    logs = ServiceLogs(folder / "services", opening.known_secrets().hide)
    keeper = ServiceKeeper(database, clock, logs, find=manager.find, supervisor=supervisor)
    checkpoints = CheckpointKeeper(
        database,
        opening.blobs,
        clock,
        asked,
        folder,
        node_id=node_id,
        local=manager.provider.capabilities.volume,
        find=manager.find,
        keep_unbound=timedelta(days=opening.settings.retention.error_days),
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
        egress=_egress_keeper(opening, asked, manager),
        studio=open_studio(opening.settings.screens, clock, folder),
        steps=SandboxSteps(manager.freeze, manager.thaw, manager.kill, manager.stop_commands),
        seeds=seeds,
        want_snapshot=snapshots.want,
    )


def _egress_keeper(opening: Opening, asked: SandboxSettings, manager: SandboxManager) -> EgressKeeper | None:
    """Gives sandboxes their network access; None if the provider does, or has no access to give."""
    policy, capabilities = policy_of(asked), manager.provider.capabilities
    configured = open_lookup(asked.secret_lookup, opening.environment)
    lookup = SavedSecrets(opening.database, opening.vault, configured, names(policy))
    if capabilities.secrets:
        manager.lives.way_out = HandedOver(opening.database, asked, lookup=lookup)
        return None
    if not capabilities.egress:
        if policy.opens:
            log.warning(
                "sandboxes of this provider have no network access, so hosts and secrets cannot be opened to them",
                extra={"provider": manager.provider.name},
            )
        return None
    missing = [name for name in names(policy) if isinstance(configured, OperatorSecrets) and not configured.has(name)]
    if missing:
        log.warning("secrets without a value: their environment variables are not set", extra={"names": missing})
    keeper = EgressKeeper(
        opening.database, opening.clock, policy, opening.folder / "egress", lookup=lookup, supervisor=opening.supervisor
    )
    manager.lives.way_out = keeper
    opening.database.on_notice(keeper.on_commit)
    return keeper
