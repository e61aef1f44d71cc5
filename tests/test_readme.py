"""What README.md says to type works, and prints what it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def commands(block):
    """The commands of a shell block, as lists of words, without comments."""
    lines = block.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def run(words):
    """What a command prints."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(language, block, following):
    """Run a block; `following` is the block after it, which may be what it prints."""
    if language == "python":
        shown = re.findall(r"^print\(.*\)  # (.+)$", block, re.M)
        assert shown, "a python block prints something and says what"
        assert run([sys.executable, "-c", block]).splitlines() == shown
        return
    for words in commands(block):
        if words[0] == "make":
            assert all(re.search(rf"^{target}:", MAKEFILE, re.M) for target in words[1:]), words
        else:
            assert words[0] == "build/venv-run/bin/crucible", f"not a command that this test knows: {words[0]}"
            printed = run([sys.executable, "-m", "crucible_nb", *words[1:]])
            assert following[0] == "text" and printed == following[1]


@pytest.mark.parametrize("at", [at for at, (language, _) in enumerate(BLOCKS) if language != "text"])
def test_a_block_does_what_it_says(at):
    following = BLOCKS[at + 1] if at + 1 < len(BLOCKS) else ("", "")
    check(*BLOCKS[at], following)


def test_every_kind_of_block_is_there():
    assert {language for language, _ in BLOCKS} == {"sh", "text", "python"}


def test_places_on_the_map_exist():
    names = re.findall(r"^\| (.+?) \|", README, re.M)
    paths = [path for name in names for path in re.findall(r"`(\w[\w./]*)`", name) if "/" in path or "." in path]
    paths += re.findall(r"\]\((?!\w+:)([^)#]+)\)", README)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists() and not (ROOT / f"{path}.ipynb").exists()] == []


@pytest.mark.parametrize(
    "block",
    [
        ("sh", "make nothing\n", ("", "")),
        ("sh", "rm -r build\n", ("", "")),
        ("sh", "build/venv-run/bin/crucible --version-of-nothing\n", ("text", "")),
        ("sh", "build/venv-run/bin/crucible ceiling-of-nothing\n", ("text", "")),
        ("sh", "build/venv-run/bin/crucible --help\n", ("text", "other\n")),
        ("python", "print(1)  # 2\n", ("", "")),
        ("python", "x = 1\n", ("", "")),
    ],
)
def test_a_wrong_block_fails(block):
    with pytest.raises(AssertionError):
        check(*block)
