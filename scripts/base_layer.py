"""Builds the read-only base layer of all local sandboxes, so that the first sandbox does not wait for it."""

from outlast.base.data_directory import cache_directory
from outlast.base.errors import OutlastError
from outlast_sandbox.providers.local.base_layer import prepare_base

if __name__ == "__main__":
    try:
        prepare_base(cache_directory())
    except OutlastError as error:  # the server starts all the same and says what is missing
        print(f"No sandboxes yet: {error.message} {error.hint}")
