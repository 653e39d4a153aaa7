"""A model catalog with one scripted model in it."""

from outlast.base.errors import UnknownModel
from outlast.kernel.models.protocol import LanguageModel, ModelSpec


class ScriptedCatalog:
    """Offers `spec` (id "scripted") and plays `model` for it: a stand-in for `ModelCatalog`."""

    def __init__(self, model: LanguageModel, spec: ModelSpec | None = None) -> None:
        self.model = model
        self.default = spec or ModelSpec("scripted", "scripted", "scripted", credits=1)

    def get(self, model_id: str) -> ModelSpec:
        if model_id != self.default.id:
            raise UnknownModel(f"There is no model {model_id!r}.", model=model_id)
        return self.default

    def list(self) -> tuple[ModelSpec, ...]:
        return (self.default,)

    def missing_key(self, provider: str) -> str | None:
        return None

    def language_model(self, provider: str) -> LanguageModel:
        return self.model

    async def warm_up(self) -> None:
        """Nothing is loaded later."""

    async def aclose(self) -> None:
        """Nothing is open."""
