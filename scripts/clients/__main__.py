"""Generates client code from the contract, or checks that it is current: `python -m scripts.clients [--check]`."""

import sys
from typing import Final

from scripts.clients import python_client, python_shapes, typescript
from scripts.contract.__main__ import main

CLIENT: Final = "packages/client/src/outlast_client"
FILES: Final = {
    "sdk/typescript/src/api.gen.ts": typescript.write,
    f"{CLIENT}/shapes.py": python_shapes.write,
    f"{CLIENT}/operations.py": python_client.write_sync,
    f"{CLIENT}/async_operations.py": python_client.write_async,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], FILES))
