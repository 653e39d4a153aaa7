"""Bodies of the control plane. Unknown fields are ignored: each release of the SDKs sends more."""

from typing import Any, Final, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from outlast.base.clock import iso
from outlast.base.errors import MalformedInput
from outlast.kernel.sandboxes.hosted import Hosted
from outlast.kernel.sandboxes.hosted_snapshots import HostedSnapshot
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.surfaces.protocols.e2b.connect import read_body
from outlast.surfaces.protocols.e2b.names import ENVD_VERSION, shown_id, traffic_token

MAX_BODY_BYTES: Final = 500_000
CLIENT_ID: Final = "outlast"
T = TypeVar("T", bound="Body")


class Body(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="ignore", frozen=True, populate_by_name=True)


class AutoResume(Body):
    enabled: bool = False


class Network(Body):
    """Fields that are not None were requested; `control.py` refuses those that are not supported."""

    allow_out: list[str] | None = Field(None, alias="allowOut")
    deny_out: list[str] | None = Field(None, alias="denyOut")
    allow_public_traffic: bool | None = Field(None, alias="allowPublicTraffic")
    allow_internet_access: bool | None = None
    mask_request_host: str | None = Field(None, alias="maskRequestHost")
    rules: Any = None
    egress_proxy: Any = Field(None, alias="egressProxy")


class NewSandbox(Body):
    """Older SDKs request internet access with every sandbox (`allow_internet_access`), so that is ignored: the operator
    decides what sandboxes can reach."""

    template: str = Field("base", alias="templateID", max_length=80)
    timeout: int = 300
    auto_pause: bool = Field(False, alias="autoPause")
    auto_pause_memory: bool | None = Field(None, alias="autoPauseMemory")
    auto_resume: AutoResume | None = Field(None, alias="autoResume")
    network: Network | None = None
    metadata: dict[str, str] = {}
    env: dict[str, str] = Field({}, alias="envVars")
    mcp: Any = None
    iam: Any = None
    volume_mounts: list[Any] | None = Field(None, alias="volumeMounts")


class Timed(Body):
    timeout: int = 300
    memory: bool = True
    auto_pause: bool | None = Field(None, alias="autoPause")


class Pause(Body):
    memory: bool = True


class Refresh(Body):
    duration: int = 60


class Fork(Body):
    timeout: int = 300
    count: int = Field(1, ge=1, le=20)


class NewSnapshot(Body):
    name: str | None = Field(None, max_length=80)
    memory: bool = False


async def body_of(request: Request, shape: type[T]) -> T:
    """The body; an empty one counts as `{}`. Raises `MalformedInput`, `InputTooLarge`."""
    raw = await read_body(request, MAX_BODY_BYTES)
    try:
        return shape.model_validate(orjson.loads(raw or b"{}"))
    except orjson.JSONDecodeError:
        raise MalformedInput("The body is not JSON.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise MalformedInput(f"{place or 'The body'}: {first['msg']}.", field=place) from None


def sandbox(one: Hosted, domain: str | None) -> dict[str, Any]:
    """The answer to creating or connecting to one, with its tokens."""
    return {
        "sandboxID": shown_id(one.workspace_id),
        "templateID": template_shown(one),
        "clientID": CLIENT_ID,
        "envdVersion": ENVD_VERSION,
        "envdAccessToken": one.access_token,
        "trafficAccessToken": traffic_token(one.access_token),
        "domain": domain,
    }


def snapshot(one: HostedSnapshot) -> dict[str, Any]:
    return {"snapshotID": shown_id(one.workspace_id), "names": [one.name] if one.name else []}


def template_shown(one: Hosted) -> str:
    """The snapshot that the sandbox was started from, else its template."""
    return shown_id(str(one.options.get("snapshot_id") or one.template))


def listed(one: Hosted, settings: SandboxSettings) -> dict[str, Any]:
    return {
        "sandboxID": shown_id(one.workspace_id),
        "templateID": template_shown(one),
        "alias": one.template,
        "clientID": CLIENT_ID,
        "startedAt": iso(one.created_at),
        "endAt": iso(one.ends_at),
        "cpuCount": max(1, round(settings.cpus)),
        "memoryMB": settings.memory_mb,
        "diskSizeMB": settings.disk_mb,
        "metadata": dict(one.metadata),
        "state": "running" if one.runs else "paused",
        "envdVersion": ENVD_VERSION,
    }


def detail(one: Hosted, settings: SandboxSettings, domain: str | None) -> dict[str, Any]:
    more: dict[str, Any] = {
        "envdAccessToken": one.access_token,
        "domain": domain,
        "allowInternetAccess": False,
        "lifecycle": {"autoResume": bool(one.options.get("auto_resume")), "onTimeout": one.on_timeout},
    }
    if (network := one.options.get("network")) is not None:
        more["network"] = network
    if not one.runs:
        more["pauseMode"] = "full" if one.pause_kind == "frozen" else "filesystem"
    return listed(one, settings) | more
