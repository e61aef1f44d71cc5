"""Names and kinds of change that git can write come back as git itself lists them, however the diff is spelt."""

import os
import random
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from diffkit import git, make_repo, needs_git

from crucible_nb.fix.diffs import FileChange, read_diff

pytestmark = needs_git

NAMES = [
    "plain.py",
    "no_extension",
    ".hidden",
    "-dash",
    "a/b/c.py",
    "a/a/x",
    "b/a/x",
    "b/y",
    "a/y",
    "i/w/z",
    "1/2",
    "old/new",
    "with blank.py",
    " leading blank",
    "trailing blank ",
    " ",
    "two  blanks",
    "x b/y.py",
    "lib b/lib b/z",
    " b/b",
    "q b/q",
    "s b/s b/s",
    'quote".py',
    '"quoted"',
    "'single'",
    "back\\slash.py",
    "ends in backslash\\",
    "tab\there.py",
    "\tleading tab",
    "trailing tab\t",
    "new\nline.py",
    "carriage\rreturn",
    "ends in carriage return\r",
    "escape\x1b[31mred",
    "bell\a\b\v\f\x7f",
    "größe.py",
    unicodedata.normalize("NFD", "größe decomposed.py"),
    "日本語/税.txt",
    "emoji 😀.md",
    "separator\u2028inside",
    "next\x85line",
    "--- a",
    "+++ b",
    "@@ -1 +1 @@",
    "diff --git a b",
    "a => b",
    "{a => b}/c",
    "rename to",
    "x and b",
    "Binary files a and b differ",
    "stamp 2024-01-01 10:00:00.000000000 +0000",
    "stamped\t2024-01-01 10:00:00",
    "epoch 1970-01-01 00:00:00.000000000 +0000",
    "file (working copy)",
    "colon:star*question?.py",
    "%20#hash&amp;<b>.py",
    "~tilde",
    "...",
    "dev/null",
    "NUL",
    "very/" + "long/" * 40 + "name.py",
]
SPELLINGS = {
    "default": [],
    "no prefix": ["--no-prefix"],
    "mnemonic": ["-c", "diff.mnemonicPrefix=true"],
    "names not quoted": ["-c", "core.quotePath=false"],
    "words": ["--src-prefix=old/", "--dst-prefix=new/"],
    "folders": ["--src-prefix=was/here/", "--dst-prefix=is/there/"],
    "with blanks": ["--src-prefix=the old/", "--dst-prefix=the new/"],
    "with quotes": ['--src-prefix="o"/', '--dst-prefix="n"/'],
    "not ASCII": ["--src-prefix=é/", "--dst-prefix=日本/"],
    "turned round": ["--src-prefix=b/", "--dst-prefix=a/"],
    "one side": ["--src-prefix=", "--dst-prefix=new/"],
    "dots": ["--src-prefix=../old/", "--dst-prefix=../new/"],
    "colour": ["--color=always"],
    "no context": ["--unified=0"],
    "binary patch": ["--binary", "--full-index"],
}


def text(seed: int, size: int = 12) -> list[str]:
    """Lines that no other seed gives."""
    return [f"line {number} of {seed}" for number in range(size)]


def content(lines: list[str]) -> bytes:
    """Lines as the content of a file."""
    return "".join(f"{line}\n" for line in lines).encode()


class Tree:
    """A working tree whose state can be kept as a git tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = make_repo(folder)

    def write(self, name: str, data: bytes) -> bool:
        """Write a file; False where the file system takes no such name."""
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except (OSError, ValueError):
            return False
        return True

    def state(self) -> str:
        """Name of the git tree of what is in the folder now."""
        git("add", "--all", "--force", cwd=self.folder)
        return git("write-tree", cwd=self.folder).decode().strip()


def listed(repo: Path, before: str, after: str, *flags: str) -> dict[str, tuple[str, str | None, str]]:
    """What git lists as changed: path to status, old path and kind, by the words of FileChange."""
    fields = iter(git("diff", "--raw", "-z", "--no-abbrev", *flags, before, after, cwd=repo).split(b"\0")[:-1])
    binary = {name for name, added, _ in counted(repo, before, after, *flags) if added is None}
    found = {}
    for field in fields:
        old_mode, new_mode, old_blob, new_blob, letter = field.decode().lstrip(":").split()
        old = next(fields).decode("utf-8", "replace")
        new = next(fields).decode("utf-8", "replace") if letter[0] in "RC" else old
        words = {"M": "modified", "A": "added", "D": "deleted", "R": "renamed", "C": "copied", "T": "type"}
        status = words[letter[0]]
        if status == "modified" and old_blob == new_blob:
            status = "mode"
        mode = old_mode if letter == "D" else new_mode
        kind = {"120000": "symlink", "160000": "submodule"}.get(mode, "binary" if new in binary else "text")
        found[new] = status, old if letter[0] in "RC" else None, kind
    return found


def counted(repo: Path, before: str, after: str, *flags: str) -> Iterator[tuple[str, int | None, int | None]]:
    """Path, added and removed lines of each file as git counts them; None where it counts none."""
    fields = iter(git("diff", "--numstat", "-z", *flags, before, after, cwd=repo).split(b"\0")[:-1])
    for field in fields:
        added, removed, name = field.split(b"\t", 2)
        if not name:
            _, name = next(fields), next(fields)
        counts = [None if count == b"-" else int(count) for count in (added, removed)]
        yield name.decode("utf-8", "replace"), *counts


def read(repo: Path, before: str, after: str, spelling: list[str], *flags: str) -> dict[str, FileChange]:
    """The files of a diff that git printed, by path."""
    settings, options = (spelling, []) if spelling[:1] == ["-c"] else ([], spelling)
    diff = read_diff(git(*settings, "diff", *flags, *options, before, after, cwd=repo))
    return {change.path: change for change in diff.files}


def check(repo: Path, before: str, after: str, spelling: list[str], *flags: str) -> None:
    """Compare all that was read with what git lists and counts."""
    found = read(repo, before, after, spelling, *flags)
    wanted = listed(repo, before, after, *flags)
    assert {path: (f.status, f.old_path, f.kind) for path, f in found.items()} == wanted
    for path, added, removed in counted(repo, before, after, *flags):
        if found[path].kind == "text" and found[path].status != "type":
            assert (len(found[path].added), len(found[path].removed)) == (added, removed), path


@pytest.fixture(scope="module")
def named(tmp_path_factory) -> tuple[Path, dict[str, tuple[str, str]]]:
    """A repository, and pairs of trees in which every name is modified, added, deleted, emptied or renamed."""
    tree = Tree(tmp_path_factory.mktemp("named") / "repo")
    names = [name for at, name in enumerate(NAMES) if tree.write(name, content(text(at)))]
    base = tree.state()
    for at, name in enumerate(names):
        tree.write(name, content([*text(at)[1:], "new", "++ b/line", "@@ -1 +1 @@"]))
    modified = tree.state()
    for name in names:
        tree.write(name, b"")
    empty = tree.state()
    for name in names:
        tree.write(name, b"\0\1\2" + name.encode())
    binary = tree.state()
    for at, name in enumerate(names):
        tree.write(name, content(text(at)))
        (tree.folder / name).chmod(0o755)
    executable = tree.state()
    for at, name in enumerate(names):
        (tree.folder / name).unlink()
        tree.write(f"moved/{name}", content(text(at)))
    moved = tree.state()
    for at, name in enumerate(names):
        tree.write(f"moved/{name}", content([*text(at), "edited"]))
    edited = tree.state()
    nothing = git("hash-object", "-t", "tree", "--stdin", cwd=tree.folder, stdin=b"").decode().strip()
    return tree.folder, {
        "modified": (base, modified),
        "added": (nothing, base),
        "deleted": (base, nothing),
        "added empty": (nothing, empty),
        "deleted empty": (empty, nothing),
        "filled": (empty, base),
        "binary": (base, binary),
        "binary modified": (binary, executable),
        "mode": (base, executable),
        "mode and text": (modified, executable),
        "renamed": (executable, moved),
        "renamed and edited": (executable, edited),
    }


STATES = ["modified", "added", "deleted", "added empty", "deleted empty", "filled", "binary", "binary modified"]
STATES += ["mode", "mode and text", "renamed", "renamed and edited"]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("state", STATES)
def test_names_are_those_that_git_lists(named, state, spelling):
    repo, states = named
    flags = ["-M", "-l0"] if state.startswith("renamed") else ["--no-renames"]
    check(repo, *states[state], SPELLINGS[spelling], *flags)


def test_most_names_can_be_written_here(named):
    repo, states = named
    assert len(listed(repo, *states["modified"])) > len(NAMES) / 2


def test_added_lines_are_those_of_the_file(named):
    repo, states = named
    for path, change in read(repo, *states["added"], [], "--no-renames").items():
        assert change.added == tuple(text(NAMES.index(path)))
        assert change.removed == ()


@pytest.mark.parametrize("spelling", ["default", "no prefix", "mnemonic", "words", "colour"])
def test_names_against_the_working_tree(tmp_path, spelling):
    tree = Tree(tmp_path / "repo")
    names = [name for at, name in enumerate(NAMES) if tree.write(name, content(text(at)))]
    git("add", "--all", cwd=tree.folder)
    git("commit", "--quiet", "--message", "state", cwd=tree.folder)
    for name in names:
        tree.write(name, b"other\n")
    settings, options = (SPELLINGS[spelling], []) if spelling == "mnemonic" else ([], SPELLINGS[spelling])
    diff = read_diff(git(*settings, "diff", *options, "HEAD", cwd=tree.folder))
    assert {file.path for file in diff.files} == set(names)
    assert {(file.status, file.added) for file in diff.files} == {("modified", ("other",))}
    reverse = read_diff(git(*settings, "diff", "-R", *options, "HEAD", cwd=tree.folder))
    assert {file.path for file in reverse.files} == set(names)
    assert {file.removed for file in reverse.files} == {("other",)}


def test_names_that_are_not_utf8(tmp_path):
    tree = Tree(tmp_path / "repo")
    before = tree.state()
    for name in (b"latin1-\xe9.py", b"\xff\xfe", b"caf\xc3\xa9-\xe9 b/x"):
        try:
            path = os.path.join(os.fsencode(tree.folder), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(b"a\n")
        except OSError:
            pytest.skip("the file system takes no names that are not UTF-8")
    after = tree.state()
    for spelling in SPELLINGS.values():
        check(tree.folder, before, after, spelling)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_kinds_are_those_that_git_lists(tmp_path, spelling):
    tree = Tree(tmp_path / "repo")
    inner = make_repo(tmp_path / "inner", {"x": "1\n"})
    git("submodule", "--quiet", "add", str(inner), "vendor/inner lib", cwd=tree.folder)
    for name in ("file to link", "file to module", "copied from.py", "text to binary", "gone link", "both"):
        tree.write(name, content(text(len(name))))
    (tree.folder / "gone link").unlink()
    (tree.folder / "gone link").symlink_to("nowhere")
    (tree.folder / "link").symlink_to("one target")
    (tree.folder / "link to file").symlink_to("one target")
    before = tree.state()

    (tree.folder / "file to link").unlink()
    (tree.folder / "file to link").symlink_to("a b/c")
    (tree.folder / "file to module").unlink()
    git("clone", "--quiet", str(inner), "file to module", cwd=tree.folder)
    (tree.folder / "link").unlink()
    (tree.folder / "link").symlink_to("another target")
    (tree.folder / "link to file").unlink()
    tree.write("link to file", b"text\n")
    (tree.folder / "gone link").unlink()
    (tree.folder / "new link").symlink_to("somewhere")
    tree.write("text to binary", b"\0\1")
    tree.write("copied to.py", content([*text(len("copied from.py")), "more"]))
    tree.write("both", content([*text(4), "x"]))
    (tree.folder / "both").chmod(0o755)
    git("commit", "--quiet", "--allow-empty", "--message", "more", cwd=tree.folder / "vendor/inner lib")
    after = tree.state()

    flags = ["-M", "-C", "--find-copies-harder"]
    check(tree.folder, before, after, SPELLINGS[spelling], *flags)
    check(tree.folder, after, before, SPELLINGS[spelling], *flags)
    kinds = {(status, kind) for status, _, kind in listed(tree.folder, before, after, *flags).values()}
    assert kinds >= {("type", "symlink"), ("type", "submodule"), ("type", "text"), ("copied", "text")}
    assert kinds >= {("modified", "symlink"), ("modified", "submodule"), ("modified", "binary")}
    assert kinds >= {("added", "symlink"), ("deleted", "symlink"), ("modified", "text")}


@pytest.mark.parametrize("pair", ["ab", "ba", "iw", "wi", "cw", "ci", "ow", "12", "21"])
def test_letters_of_git_are_prefixes_where_the_names_differ_too(pair):
    text = f"--- {pair[0]}/old/x.py\n+++ {pair[1]}/new/y.py\n@@ -1 +1 @@\n-a\n+b\n"
    (change,) = read_diff(text).files
    assert (change.path, change.old_path, change.status) == ("new/y.py", "old/x.py", "renamed")


def made_up_names(draw: random.Random, count: int) -> list[str]:
    """Names out of the characters that git's spelling turns on, none a folder of another."""
    names: set[str] = set()
    while len(names) < count:
        name = "".join(draw.choices(["a", "b", " ", " b/", "/", '"', "\\", "\t", "\n", "é", ".", "-", "\r"], k=8))
        parts = name.split("/")
        if all(part.strip(".") for part in parts) and not any(part.lower() == ".git" for part in parts):
            names.add(name)
    return [n for n in sorted(names) if not any(other.startswith(f"{n}/") for other in names)]


@pytest.mark.parametrize("seed", range(4))
def test_made_up_names_are_those_that_git_lists(tmp_path, seed):
    draw = random.Random(seed)
    tree = Tree(tmp_path / "repo")
    names = [name for at, name in enumerate(made_up_names(draw, 80)) if tree.write(name, content(text(at)))]
    for name in names[::3]:
        (tree.folder / name).unlink()
    before = tree.state()
    for at, name in enumerate(names):
        match at % 3:
            case 0:
                tree.write(name, content(text(at)) if draw.random() < 0.5 else b"")
            case 1:
                (tree.folder / name).unlink()
            case 2:
                tree.write(name, content([*text(at), "more"]))
    after = tree.state()
    for spelling in SPELLINGS.values():
        check(tree.folder, before, after, spelling, "--no-renames")


def test_git_applies_what_was_read(tmp_path):
    """The check itself: git's own reading of its own diff gives the listed names."""
    tree = Tree(tmp_path / "repo")
    before = tree.state()
    tree.write("x b/y.py", b"a\n")
    after = tree.state()
    diff = git("diff", before, after, cwd=tree.folder)
    done = subprocess.run(["git", "apply", "--numstat", "-z"], cwd=tree.folder, input=diff, capture_output=True)
    assert done.stdout == b"1\t0\tx b/y.py\0"
    assert list(listed(tree.folder, before, after)) == ["x b/y.py"]
