"""What several test files share: a writer of diffs, and a git that no setting of this machine reaches."""

import difflib
import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import crucible_nb

PACKAGE_ROOT = Path(crucible_nb.__file__).parent.parent
DATA = Path(__file__).parent.parent / "data"
DECK = Path(__file__).parent / "cases"
PUBLIC = os.environ.get("CRUCIBLE_PUBLIC")

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on the PATH")
needs_public = pytest.mark.skipif(not PUBLIC, reason="CRUCIBLE_PUBLIC does not name a folder of public data")


@dataclass(frozen=True)
class Change:
    """A file before and after; None on the side where there is no file."""

    path: str
    before: str | None
    after: str | None

    @property
    def added(self) -> tuple[str, ...]:
        """Lines that the change adds, as the scorer has to read them."""
        return tuple(line for sign, line in self._signed() if sign == "+")

    @property
    def removed(self) -> tuple[str, ...]:
        """Lines that the change removes, likewise."""
        return tuple(line for sign, line in self._signed() if sign == "-")

    def _signed(self) -> list[tuple[str, str]]:
        lines = [line for hunk in hunks(self, 0) for line in hunk[1:]]
        kept = [line for line in lines if line[0] != "\\"]
        return [(line[0], line[1:].removesuffix("\n").removesuffix("\r")) for line in kept]


@dataclass(frozen=True)
class Style:
    """How a diff spells the same change."""

    context: int = 3
    prefixes: tuple[str, str] = ("a/", "b/")
    git: bool = True  # `diff --git`, modes and `index`; False: `---` and `+++` alone
    index_width: int | None = 7  # Digits of an object name; None: no `index` line
    heading: str = ""  # What stands behind the second @@


def keep_ends(text: str | None) -> list[str]:
    """Lines of a text with their line ends, which are LF and nothing else."""
    lines = (text or "").split("\n")
    return [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def hunks(change: Change, context: int, heading: str = "") -> list[list[str]]:
    """The hunks of a change, each its header and its body lines, with line ends."""
    before, after = keep_ends(change.before), keep_ends(change.after)
    found = []
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(context):
        old = _range(group[0][1], group[-1][2])
        new = _range(group[0][3], group[-1][4])
        hunk = [f"@@ -{old} +{new} @@{' ' * bool(heading)}{heading}\n"]
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                hunk += [_body_line(" ", line) for line in before[i1:i2]]
            else:
                hunk += [_body_line("-", line) for line in before[i1:i2]]
                hunk += [_body_line("+", line) for line in after[j1:j2]]
        found.append("".join(hunk).split("\n")[:-1])
    return [[line + "\n" for line in hunk] for hunk in found]


def _range(start: int, stop: int) -> str:
    """A line range as a hunk header spells it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _body_line(sign: str, line: str) -> str:
    """A body line; git's remark follows where the file ends without a line end."""
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def quoted(name: str) -> str:
    """A name as git writes it with core.quotePath: in C style where it needs that."""
    raw = name.encode()
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in raw):
        return name
    short = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
    spelt = (
        "\\" + short[byte] if byte in short else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in raw
    )
    return f'"{"".join(spelt)}"'


def write_section(change: Change, style: Style = Style()) -> str:  # noqa: B008
    """One file section of a diff; empty where nothing changes or nothing can be written."""
    if change.before == change.after:
        return ""
    old, new = (quoted(prefix + change.path) for prefix in style.prefixes)
    head = []
    if style.git:
        head.append(f"diff --git {old} {new}\n")
        if change.before is None or change.after is None:
            head.append(f"{'new' if change.before is None else 'deleted'} file mode 100644\n")
        if style.index_width:
            names = [_object_name(text, style.index_width) for text in (change.before, change.after)]
            mode = "" if None in (change.before, change.after) else " 100644"
            head.append(f"index {'..'.join(names)}{mode}\n")
    body = hunks(change, style.context, style.heading)
    if not body:
        return "".join(head)
    tab = "\t" if " " in change.path and not old.startswith('"') else ""
    head.append("--- /dev/null\n" if change.before is None else f"--- {old}{tab}\n")
    head.append("+++ /dev/null\n" if change.after is None else f"+++ {new}{tab}\n")
    return "".join(head + [line for hunk in body for line in hunk])


def _object_name(text: str | None, width: int) -> str:
    """A made-up object name; that of nothing and of an empty file are git's."""
    if text is None:
        return "0" * width
    name = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" if not text else f"{len(text):x}a{'0123456789' * 4}"
    return name[:width]


def write_diff(changes: Iterable[Change], style: Style = Style()) -> str:  # noqa: B008
    """A whole diff."""
    return "".join(write_section(change, style) for change in changes)


def git(
    *args: str, cwd: Path, stdin: bytes | None = None, env: dict[str, str] | None = None, check: bool = True
) -> bytes:
    """What git prints for `args`, with none of the settings of this machine or its user."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    author = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = ["-c", "core.autocrlf=false", "-c", "core.fileMode=true", "-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["git", *settings, *args],
        cwd=cwd,
        check=check,
        env={**inherited, **quiet, **author, **(env or {})},
        **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
        capture_output=True,
    ).stdout


def write_files(folder: Path, files: dict[str, str | bytes]) -> None:
    """Files with exactly these contents, and the folders that they need."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_repo(folder: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """A git repository; with `files`, they are its first commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", "--initial-branch=main", ".", cwd=folder)
    if files is not None:
        write_files(folder, files)
        commit(folder)
    return folder


def commit(repo: Path) -> None:
    """Commit all that is in the working tree."""
    git("add", "--all", "--force", cwd=repo)
    git("commit", "--quiet", "--allow-empty", "--message", "state", cwd=repo)


def write_trees(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> tuple[Path, str, str]:
    """A repository with two trees of files, and the names of these trees; nothing is checked out."""
    make_repo(folder)
    trees = []
    for files in (before, after):
        blobs = _hash_objects(folder, list(files.values()))
        entries = [f"100644 {blob}\t{name}\0" for name, blob in zip(files, blobs, strict=True)]
        git("read-tree", "--empty", cwd=folder)
        git("update-index", "-z", "--index-info", cwd=folder, stdin="".join(entries).encode())
        trees.append(git("write-tree", cwd=folder).decode().strip())
    return folder, *trees


def _hash_objects(repo: Path, contents: Sequence[bytes]) -> list[str]:
    """Names of blobs with these contents, written to the repository in one go."""
    stream = b"".join(
        b"blob\nmark :%d\ndata %d\n%s\n" % (number, len(content), content) for number, content in enumerate(contents, 1)
    )
    marks = repo / ".git" / "marks"
    git("fast-import", "--quiet", f"--export-marks={marks}", cwd=repo, stdin=stream)
    named = dict(line.split(" ") for line in marks.read_text().splitlines())
    return [named[f":{number}"] for number in range(1, len(contents) + 1)]


def archive_pairs() -> list[tuple[str, Path, Path]]:
    """Every run of data/archive: its id, its scenario's folder, its diff."""
    diffs = sorted((DATA / "archive").glob("*/*/final.diff"))
    named = [(f"{path.parent.parent.name}/{path.parent.name}", path) for path in diffs]
    return [(run, DATA / "scenarios" / run.split("/")[0], path) for run, path in named]


def public_runs() -> list[dict[str, str]]:
    """The public runs: `run_id`, `reference_diff`, `candidate_diff` and more."""
    path = Path(PUBLIC or "") / "swebench_lite" / "aider_runs.jsonl.gz"
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).split(b"\n") if line]
