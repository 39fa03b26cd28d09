"""The whole service: the example of the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2]


def test_the_example_of_the_readme_completes_an_intent() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```python\n(from steward import Steward\n.*?)```", text, re.DOTALL)
    assert len(lines.strip().splitlines()) <= 10
    env = {**os.environ, "PYTHONPATH": "src"}
    command = [sys.executable, "-c", lines]
    done = subprocess.run(command, env=env, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert printed[0] == "intent.created" and printed[-2] == "intent.completed"
    assert printed[-1].startswith("completed [Position(")
