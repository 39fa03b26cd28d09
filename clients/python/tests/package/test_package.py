"""The published wheel and source distribution."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2]
MODULES = sorted(
    str(one.relative_to(FOLDER / "src")) for one in (FOLDER / "src" / "steward").rglob("*.py")
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(FOLDER)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    for one in place.iterdir():
        print(f"{one.name}: {one.stat().st_size} bytes")
    return place


def test_the_wheel_contains_only_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == "steward_sdk-0.3.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read("steward_sdk-0.3.0.dist-info/METADATA").decode()
    info = [f"steward_sdk-0.3.0.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL")]
    licence = "steward_sdk-0.3.0.dist-info/licenses/LICENSE"
    assert sorted(names) == sorted([*MODULES, "steward/py.typed", *info, licence])
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.10" in metadata


def test_the_source_distribution_contains_only_the_sources_of_the_wheel(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.removeprefix("steward_sdk-0.3.0/") for name in archive.getnames()}
    own = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}
    assert names - own == {f"src/{name}" for name in [*MODULES, "steward/py.typed"]}


def test_the_wheel_is_importable_without_installation(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    code = "import steward, sys; assert sys.argv[1] in steward.__file__; print(steward.Steward)"
    command = [sys.executable, "-W", "error", "-c", code, str(wheel)]
    env = {"PYTHONPATH": str(wheel), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(command, env=env, cwd=built, capture_output=True, text=True, check=False)
    assert result.stdout == "<class 'steward._client.Steward'>\n", result.stderr
