"""Every notebook below nbs/ runs from top to bottom, in a process of its own, as `nbdev-test` runs it."""

import subprocess
import sys
from pathlib import Path

import pytest
from nbdev.config import get_config

ROOT = Path(__file__).parent.parent
NBS = ROOT / "nbs"
NOTEBOOKS = [path.relative_to(NBS).as_posix() for path in sorted(NBS.rglob("[!._]*.ipynb"))]
NOTEBOOKS = [name for name in NOTEBOOKS if not any(part.startswith((".", "_")) for part in name.split("/"))]
SKIP = get_config(ROOT).tst_flags.split()
RUN = """
import sys
from nbdev.test import test_nb
passed, seconds = test_nb(sys.argv[1], skip_flags=sys.argv[3:], basepath=sys.argv[2])
sys.exit(not passed)
"""


def run(notebook):
    """Finished process that ran the notebook at the path `notebook`."""
    command = [sys.executable, "-c", RUN, str(notebook), str(ROOT), *SKIP]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs(name):
    done = run(NBS / name)
    if done.returncode:
        pytest.fail(done.stderr or done.stdout, pytrace=False)


def test_a_failing_cell_fails(tmp_path):
    cell = '{"cell_type": "code", "source": "assert 1 == 2", "metadata": {}, "outputs": [], "id": "a"}'
    notebook = tmp_path / "failing.ipynb"
    notebook.write_text(f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}')
    done = run(notebook)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr


def test_there_are_notebooks():
    assert NOTEBOOKS
