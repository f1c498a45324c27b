"""What no audit can be faster than: start Python, read every .md and .jsonl file below ROOT, hash it, decode it.

    python -IS benchmarks/floor.py ROOT

Links are not followed. It prints the hash and the number of characters, so that the work cannot be left out.
"""

import os
import sys
from hashlib import sha256


def main(root: str) -> None:
    """Read everything below `root`, in the order of the listing."""
    digest = sha256()
    characters = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith((".md", ".jsonl")):
                with open(os.path.join(folder, name), "rb", buffering=0) as file:  # noqa: PTH118, PTH123 - pathlib costs 7 ms
                    data = file.read()
                digest.update(data)
                characters += len(data.decode("utf-8"))
    print(digest.hexdigest(), characters)


if __name__ == "__main__":
    main(sys.argv[1])
