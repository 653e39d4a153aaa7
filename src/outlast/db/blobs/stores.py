"""Opens the store of blobs that the setting names."""

from pathlib import Path
from typing import Final

from outlast.db.blobs.address import check_url, is_bucket, parse_address
from outlast.db.blobs.bucket import Bucket
from outlast.db.blobs.cache import Cache
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.blobs.index import Index
from outlast.db.blobs.port import Blobs
from outlast.db.blobs.s3 import S3Blobs
from outlast.db.database import Database

CACHE: Final = "blob-cache"  # a folder of the data directory
MEGABYTE: Final = 1_000_000


def open_blobs(url: str, data_dir: Path, database: Database, cache_mb: int) -> Blobs:
    """The store at `url`: a folder, relative to the data directory, or a bucket. Nothing is read yet. Only the process
    that holds the data directory may open a bucket this way. Raises `InvalidSetting`."""
    check_url(url)
    return open_bucket(url, data_dir / CACHE, database, cache_mb) if is_bucket(url) else FolderBlobs(data_dir / url)


def open_bucket(url: str, cache: Path, database: Database, cache_mb: int) -> S3Blobs:
    """A bucket, with copies in the folder `cache`, which this process owns."""
    return S3Blobs(Bucket(parse_address(url)), Index(database), Cache(cache, cache_mb * MEGABYTE))
