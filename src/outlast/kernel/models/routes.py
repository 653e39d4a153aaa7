"""The configured models."""

from typing import Any

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.models.shapes import ModelAnswer
from outlast.kernel.services import Services

router = noun_router("Models and credits")


@router.get("/models", response_model=Page[ModelAnswer])
async def list_models(services: Svc, actor: Signed) -> Response:
    """List the configured models, in the configuration's order; `available` is true if the model's key is set."""
    return reply(page([_shown(services, spec) for spec in services.catalog.list()]))


def _shown(services: Services, spec: ModelSpec) -> dict[str, Any]:
    missing = services.catalog.missing_key(spec.provider)
    provider = services.settings.providers.get(spec.provider)
    return {
        "id": spec.id,
        "label": spec.label,
        "provider": spec.provider,
        "vision": spec.vision,
        "credits": spec.credits,
        "default": spec.id == services.catalog.default.id,
        "demo": provider is not None and provider.kind == "demo",
        "available": missing is None,
        "reason": f"The server's environment variable {missing} is not set." if missing else None,
    }
