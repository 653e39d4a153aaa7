"""The address of a store of blobs, as `blobs.url` writes it."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from outlast.base.errors import InvalidSetting
from outlast.base.records import dataclass

SCHEME: Final = "s3://"
OPTIONS: Final = {"endpoint": "endpoint", "region": "region", "virtual_hosted": "virtual_hosted_style_request"}
"""The options in the query of a bucket's address, with obstore's names."""


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """A parsed `blobs.url`. `keys` are the credentials in it, if there are any: they are never shown."""

    bucket: str
    prefix: str
    options: Mapping[str, str]
    keys: Mapping[str, str]

    def __repr__(self) -> str:
        return self.shown

    @property
    def shown(self) -> str:
        """For people: without credentials."""
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")


def parse_address(url: str) -> BucketAddress:
    """Parse `s3://[KEY_ID:SECRET@]BUCKET[/PREFIX][?region=…&endpoint=…]`. Raises `InvalidSetting`."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(options.keys() - OPTIONS.keys())
    if not parts.hostname or unknown:
        wrong = f"the option {unknown[0]} is unknown" if unknown else "it names no bucket"
        raise InvalidSetting(
            f"blobs.url is not the address of a bucket: {wrong}.",
            hint=f"Write s3://BUCKET/PREFIX, with these options if needed: {', '.join(OPTIONS)}.",
            setting="blobs.url",
        )
    keys = {"access_key_id": unquote(parts.username or ""), "secret_access_key": unquote(parts.password or "")}
    bucket = parts.netloc.rpartition("@")[2]  # as written: `hostname` is in lower case
    return BucketAddress(bucket, parts.path.strip("/"), options, keys if parts.username else {})


def is_bucket(url: str) -> bool:
    """True if `blobs.url` names a bucket, false for a folder."""
    return url.startswith(SCHEME)


def check_url(url: str) -> None:
    """Raise `InvalidSetting` unless the text names a folder or a bucket."""
    if is_bucket(url):
        parse_address(url)
    elif "://" in url:
        raise InvalidSetting(
            f"blobs.url begins with {url.partition('://')[0]}://, which is not supported.",
            hint=f"Name a folder, or a bucket: {SCHEME}BUCKET/PREFIX.",
            setting="blobs.url",
        )
