"""Secrets in functions: texts that stand for them, and become the placeholders of the sandbox; never values."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast import Context, flow
from outlast.base.agent_errors import UnknownSecret
from outlast.db.database import Database
from outlast.kernel.runs.function_secrets import FunctionSecrets
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.settings import Settings
from tests.flow.runs.test_function_sandbox import at_work, house
from tests.flow.runs.test_functions import playing, texts

SANDBOX = SandboxSettings(
    dependencies=(
        DependencySettings(secret_env="STRIPE_KEY", hosts=("api.stripe.com",)),
        DependencySettings(secret_env="STRIPE_KEY_PLACEHOLDER", hosts=("api.stripe.com",)),
        DependencySettings(package="npm:left-pad@1"),
    )
)


@flow("chat")
async def paying(ctx: Context) -> str:
    key = ctx.secrets["STRIPE_KEY"]
    await ctx.sandbox.write("key.txt", f"key={key}")
    result = await ctx.sandbox.run(f"echo {key} {ctx.secrets['STRIPE_KEY_PLACEHOLDER']}; cat key.txt")
    return f"{sorted(ctx.secrets)} {result.output}"


async def test_what_stands_for_a_secret_becomes_the_placeholder_of_the_sandbox(db: Database, tmp_path: Path) -> None:
    async def placeholders(sandbox_id: str) -> dict[str, str]:
        return {name: f"<{name} in {sandbox_id}>" for name in ("STRIPE_KEY", "STRIPE_KEY_PLACEHOLDER")}

    async with house(db, tmp_path, paying, settings=Settings(sandbox=SANDBOX)) as here, at_work(here.it):
        here.it.services.engine.workspaces.placeholders = placeholders
        [said] = texts(await here.it.events((await here.it.start()).run_id))
        [sandbox_id] = here.provider.created
        key = f"<STRIPE_KEY in {sandbox_id}>"
        assert said == (
            f"['STRIPE_KEY', 'STRIPE_KEY_PLACEHOLDER'] {key} <STRIPE_KEY_PLACEHOLDER in {sandbox_id}>\nkey={key}"
        )


async def test_a_provider_without_placeholders_says_to_use_the_variable(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path, paying, settings=Settings(sandbox=SANDBOX)) as here, at_work(here.it):
        error = (await here.it.events((await here.it.start()).run_id))[-2]["data"]["error"]
        assert "gives no placeholder for STRIPE_KEY" in error["message"]


async def test_a_secret_that_does_not_exist_ends_the_flow_with_the_names_that_do(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def asking(ctx: Context) -> str:
        return ctx.secrets["GITHUB_TOKEN"]

    async with playing(db, tmp_path, asking, settings=Settings(sandbox=SANDBOX)) as it:
        error = (await it.events((await it.start()).run_id))[-2]["data"]["error"]
        assert error["code"] == "unknown_secret"
        assert "STRIPE_KEY, STRIPE_KEY_PLACEHOLDER" in error["message"]


def test_a_server_without_sandboxes_has_no_secrets() -> None:
    secrets = FunctionSecrets(None)
    assert list(secrets) == []
    assert "STRIPE_KEY" not in secrets
    with pytest.raises(UnknownSecret, match="The configuration names: none"):
        secrets["STRIPE_KEY"]
