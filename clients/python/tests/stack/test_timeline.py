"""The whole service: what readers do first, on chains."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2]


def test_the_ten_lines_of_the_readme_come_to_a_completed_intent() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```python\n(from steward import Steward\n.*?)```", text, re.DOTALL)
    assert len(lines.strip().splitlines()) <= 10
    env = {**os.environ, "PYTHONPATH": "src"}
    order = [sys.executable, "-c", lines]
    done = subprocess.run(order, env=env, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0] == "intent.created" and told[-2] == "intent.completed"
    assert told[-1].startswith("completed [Position(")
