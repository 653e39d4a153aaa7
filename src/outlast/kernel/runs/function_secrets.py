"""Texts that stand for secrets in a function, and become a sandbox's placeholders where it uses them there."""

from collections.abc import Iterable, Iterator, Mapping

from outlast.base.agent_errors import UnknownSecret
from outlast.kernel.sandboxes.settings import SandboxSettings


class FunctionSecrets:
    """Implements `Secrets`. The texts are the same for each sandbox and each call of a function."""

    def __init__(self, settings: SandboxSettings | None, more: Iterable[str] = ()) -> None:
        """`more`: names beside those of the settings."""
        dependencies = () if settings is None else settings.dependencies
        self._names = sorted({*(one.secret_env for one in dependencies if one.secret_env), *more})

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise UnknownSecret(f"There is no secret {name!r}. There are: {known}.", secret=name, known=self._names)
        return f"OUTLAST_SECRET_{name}_PLACEHOLDER"

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def named_in(self, text: str) -> list[str]:
        """The secrets that a text contains."""
        return [name for name in self._names if self[name] in text]

    def put_in(self, text: str, placeholders: Mapping[str, str]) -> str:
        """The text with the placeholders of a sandbox."""
        for name in sorted(self.named_in(text), key=len, reverse=True):  # a name may begin with another
            if name not in placeholders:
                raise UnknownSecret(
                    f"The secret {name} is younger than this sandbox.", hint="A new sandbox has it.", secret=name
                )
            text = text.replace(self[name], placeholders[name])
        return text
