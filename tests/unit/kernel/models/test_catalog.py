"""The catalog: what is configured, what is missing, and what it says about it."""

import pytest

from outlast.base import errors
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import ModelSettings, ProviderConfig
from outlast.testing.scripted_model import ScriptedModel

LOCAL = ProviderConfig("ollama", name="local")
PAID = ProviderConfig("openai-compatible", "https://models.example/v1/", "PAID_KEY", name="paid")
MODELS = [
    ModelSettings("local/small", "local", "small"),
    ModelSettings("paid/big", "paid", "big", vision=True, credits=3, label="Big one"),
]


def catalog(**changes: object) -> ModelCatalog:
    arguments = {"providers": [LOCAL, PAID], "models": MODELS, "secret": {}.get, **changes}
    return ModelCatalog(**arguments)  # type: ignore[arg-type]


def test_models_keep_the_configurations_order_and_words() -> None:
    models = catalog()
    assert [spec.id for spec in models.list()] == ["local/small", "paid/big"]
    big = models.get("paid/big")
    assert (big.vision, big.credits, big.label, big.name) == (True, 3, "Big one", "big")
    assert models.get("local/small").label == "local/small"


def test_the_default_is_named_or_first() -> None:
    assert catalog(default_model="paid/big").default.id == "paid/big"
    assert catalog().default.id == "local/small"


def test_without_models_the_demo_answers() -> None:
    models = catalog(providers=[], models=[])
    assert models.default.id == "demo"
    assert models.default.label == "Demo (recorded answers, real tools)"


def test_an_unknown_model_names_the_known_ones() -> None:
    with pytest.raises(errors.UnknownModel, match="local/small, paid/big") as caught:
        catalog().get("nope")
    assert caught.value.fields["known"] == ["local/small", "paid/big"]


def test_a_missing_key_names_the_variable() -> None:
    models = catalog()
    assert models.missing_key("paid") == "PAID_KEY"
    assert models.missing_key("local") is None
    with pytest.raises(errors.ModelKeyRefused, match="PAID_KEY"):
        models.language_model("paid")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"providers": [LOCAL]}, "paid"),
        ({"providers": [LOCAL, ProviderConfig("openai-compatible", name="paid")]}, "base_url"),
        ({"providers": [LOCAL, ProviderConfig("groq", "https://me:secret@host/v1", name="paid")]}, "plain http"),
        ({"providers": [LOCAL, ProviderConfig("groq", "host/v1", name="paid")]}, "plain http"),
        ({"models": [MODELS[0], MODELS[0]]}, "twice"),
        ({"default_model": "nope"}, "nope"),
    ],
)
def test_a_contradiction_is_refused_with_its_setting(changes: dict[str, object], words: str) -> None:
    with pytest.raises(errors.InvalidSetting, match=words) as caught:
        catalog(**changes)
    assert caught.value.fields["setting"]
    assert "secret" not in repr(caught.value.to_dict())


async def test_an_adapter_is_opened_once_and_shows_no_key() -> None:
    models = catalog(secret={"PAID_KEY": "sk-secret"}.get)
    adapter = models.language_model("paid")
    assert models.language_model("paid") is adapter
    assert "sk-secret" not in repr(vars(adapter))
    await models.aclose()
    await models.aclose()


async def test_warming_up_loads_the_sdks_of_usable_providers_only() -> None:
    configs = [ProviderConfig("anthropic", name="claude"), ProviderConfig("openai", api_key_env="K", name="gpt"), LOCAL]
    models = catalog(providers=configs, models=[], secret={"K": "k"}.get)
    await models.warm_up()
    assert "pydantic_ai.models.openai" in __import__("sys").modules
    await models.aclose()


def test_an_adapter_given_is_used_as_it_is() -> None:
    scripted = ScriptedModel([])
    models = catalog(adapters={"paid": scripted})
    assert models.language_model("paid") is scripted


async def test_one_session_serves_each_base_url() -> None:
    connections = Connections()
    first = connections.session("http://127.0.0.1:1")
    assert connections.session("http://127.0.0.1:1") is first
    assert connections.session("http://127.0.0.1:2") is not first
    await connections.aclose()
    assert first.closed


async def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anthropic", None)
    models = catalog(
        providers=[ProviderConfig("anthropic", api_key_env="K", name="claude")], models=[], secret={"K": "k"}.get
    )
    with pytest.raises(errors.InvalidSetting) as caught:
        models.language_model("claude")
    assert "anthropic" in caught.value.message
    assert "pip install -e '.[providers]'" in caught.value.hint


async def test_the_environments_proxy_is_used_except_where_it_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    monkeypatch.setenv("no_proxy", "localhost")
    connections = Connections()
    assert str(connections.session("http://models.example/v1")._default_proxy) == "http://127.0.0.1:3128"
    assert connections.session("http://localhost:11434/v1")._default_proxy is None
    await connections.aclose()


def test_a_key_prints_as_dots() -> None:
    key = ApiKey("sk-secret")
    assert "sk-secret" not in f"{key} {key!r} {[key]}"
    assert key.scrub("with sk-secret inside") == "with •••••• inside"
    with pytest.raises(TypeError):
        __import__("pickle").dumps(key)
