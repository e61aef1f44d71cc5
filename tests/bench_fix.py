"""How fast runs are scored, beside unidiff + RapidFuzz and difflib, and how much memory that takes.

make bench                                                  54 runs of data/archive
CRUCIBLE_PUBLIC=... make bench                              300 public runs
python tests/bench_fix.py --rounds 30 --runs 1000000        longer

Contestants take turns in every round, and what counts is the processor time of this process, so that a busy machine
slows all of them alike and as little as can be. References are read once on both sides. The exit status is always 0:
the last lines say which claims hold on this machine, now.
"""

import argparse
import difflib
import gc
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from diffkit import PUBLIC, archive_pairs, public_runs
from rapidfuzz.distance import Indel
from unidiff import PatchSet

from crucible_nb.fix.archive import score_runs
from crucible_nb.fix.diffs import Diff, read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import match_files, score_fix
from crucible_nb.similarity import compare_texts

FASTER, RUNS_PER_SECOND = 2, 10_000  # What is claimed

Texts = dict[str, str]  # Path to added text


def workload() -> tuple[str, list[Diff], list[bytes]]:
    """What is measured on: its name, the reference of each run, the candidate diff of each run."""
    if PUBLIC:
        runs = public_runs()
        references = [read_diff(run["reference_diff"]) for run in runs]
        return f"{len(runs)} public runs", references, [run["candidate_diff"].encode() for run in runs]
    runs = archive_pairs()
    read = {folder: read_reference(folder / "REFERENCE_FIX.md").alternatives[0] for _, folder, _ in runs}
    name = f"{len(runs)} runs of data/archive"
    return name, [read[folder] for _, folder, _ in runs], [path.read_bytes() for _, _, path in runs]


# The peer


def peer_read(data: bytes) -> Texts:
    """Added text of each file, by unidiff."""
    return {
        patch.path: "\n".join([line.value.rstrip("\n") for hunk in patch for line in hunk if line.is_added])
        for patch in PatchSet(data)
    }


def peer_score(reference: Texts, candidate: Texts) -> float:
    """The same value from the same texts, by RapidFuzz: no notes, no renames, no repairs."""
    both = reference.keys() & candidate.keys()
    alike = [Indel.normalized_similarity(reference[path], candidate[path]) for path in both]
    structural = len(both) / len(reference.keys() | candidate.keys())
    return 0.6 * structural + 0.4 * (sum(alike) / len(alike) if alike else 0.0)


# Rounds


def use_up(answers: Iterator[object]) -> None:
    """Make every answer, and keep none."""
    deque(answers, maxlen=0)


def measure(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each contestant in each round; they take turns, and none goes first every time."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for at in range(rounds + 1):
        for name in order[at % len(order) :] + order[: at % len(order)]:
            gc.collect()
            start = time.process_time()
            contestants[name]()
            if at:  # The first round is to warm up
                seconds[name].append(time.process_time() - start)
    return seconds


def show(title: str, unit: str, answers: int, seconds: dict[str, list[float]]) -> dict[str, float]:
    """Print a table; how many times as fast the first row is as each row, at best and in the median round."""
    print(f"\n{title}\n  {'':32}{unit + ' best':>15}{unit + ' median':>17}{'first row faster: best, median':>32}")
    (first, base), *_ = seconds.items()
    ratios = {}
    for name, times in seconds.items():
        best, median = answers / min(times), answers / statistics.median(times)
        ratios[name] = statistics.median(b / a for a, b in zip(base, times, strict=True))
        shown = "" if name == first else f"{min(times) / min(base):.1f} times, {ratios[name]:.1f} times"
        print(f"  {name:32}{best:15,.0f}{median:17,.0f}{shown:>32}")
    return ratios


def speed(rounds: int) -> tuple[float, float]:
    """Print the tables; how many times as fast as the peer, and runs/s at best."""
    name, references, candidates = workload()
    texts = [{file.path: "\n".join(file.added or ()) for file in diff.files} for diff in references]
    pairs = list(zip(references, candidates, strict=True))
    peer_pairs = list(zip(texts, candidates, strict=True))
    ours = [score_fix(reference, read_diff(data)).value for reference, data in pairs]
    theirs = [peer_score(reference, peer_read(data)) for reference, data in peer_pairs]
    same = sum(abs(a - b) < 1e-9 for a, b in zip(ours, theirs, strict=True))
    size = sum(map(len, candidates)) / len(candidates)
    print(f"{name}, {size:,.0f} bytes a candidate; both scorers give the same value on {same} of {len(pairs)}")
    repeat = max(1, 300 // len(pairs))
    runs = repeat * len(pairs)

    seconds = measure(
        {
            "read_diff + score_fix": lambda: use_up(score_fix(r, read_diff(d)) for r, d in pairs * repeat),
            "unidiff + RapidFuzz": lambda: use_up(peer_score(r, peer_read(d)) for r, d in peer_pairs * repeat),
        },
        rounds,
    )
    factor = show("Read and score", "runs/s", runs, seconds)["unidiff + RapidFuzz"]
    best = runs / min(seconds["read_diff + score_fix"])

    show(
        "Read only",
        "diffs/s",
        runs,
        measure(
            {
                "read_diff": lambda: use_up(read_diff(data) for data in candidates * repeat),
                "unidiff.PatchSet": lambda: use_up(PatchSet(data) for data in candidates * repeat),
            },
            rounds,
        ),
    )
    matched = [
        ("\n".join(a.added), "\n".join(b.added))
        for reference, data in pairs
        for a, b in match_files(reference, read_diff(data)).matched
        if a.added is not None and b.added is not None
    ]
    show(
        f"Similarity only, {len(matched)} pairs of texts",
        "pairs/s",
        len(matched),
        measure(
            {
                "compare_texts": lambda: use_up(compare_texts(a, b) for a, b in matched),
                "rapidfuzz Indel": lambda: use_up(Indel.normalized_similarity(a, b) for a, b in matched),
                "difflib ratio (another number)": lambda: use_up(
                    difflib.SequenceMatcher(None, a, b).ratio() for a, b in matched
                ),
            },
            max(3, rounds // 5),
        ),
    )
    return factor, best


# Large inputs and many runs, each in a process of its own


def peak_mb() -> float:
    """The most memory that this process ever held; getrusage alone counts in what its parent held when it began."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def long_line(of_reference: int, of_candidate: int) -> str:
    """Seconds to score one added line of so many characters against another."""
    draw = random.Random(0)
    letters = ["".join(draw.choices("abcdefgh ()=.", k=size)) for size in (of_reference, of_candidate)]
    diffs = [f"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{text}\n".encode() for text in letters]
    start = time.perf_counter()
    score = score_fix(read_diff(diffs[0]), read_diff(diffs[1]))
    kinds = ", ".join(sorted({note.kind for note in score.notes})) or "none"
    return f"{time.perf_counter() - start:.3f} s (unit {score.files[0].unit}, notes: {kinds})"


def write_large_diff(path: Path, size: int) -> None:
    """A diff of many files and about `size` bytes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for number in count():
            if file.tell() >= size:
                break
            name = f"src/package_{number % 50}/module_{number}.py"
            file.write(f"diff --git a/{name} b/{name}\nindex 1234567..89abcde 100644\n--- a/{name}\n+++ b/{name}\n")
            for hunk in range(50):
                file.write(f"@@ -{9 * hunk + 1},6 +{9 * hunk + 1},9 @@ def function_{hunk}():\n")
                file.write("     value = first(argument)\n" * 3 + "-    return value\n" * 2)
                file.write(f"+    return other(value, {number}, {hunk})  # changed\n" * 5 + "     more = value\n")


def large(path: str, reader: str) -> None:
    """Print how long it takes and how much memory to read one large diff."""
    data = Path(path).read_bytes()
    before = peak_mb()
    start = time.perf_counter()
    read = read_diff(data).files if reader == "read_diff" else PatchSet(data)
    taken = time.perf_counter() - start
    rate = len(data) / 1e6 / taken
    print(
        f"{len(data) / 1e6:.0f} MB, {len(read)} files: {taken:.1f} s, {rate:.0f} MB/s, peak {peak_mb():.0f} MB", end=""
    )
    print(f" (with the input {before:.0f} MB)")


def stream(runs: int) -> None:
    """Print the most memory held after ever more runs of one stream."""
    _, references, candidates = workload()

    def pairs() -> Iterator[tuple[Diff, bytes]]:
        for at in range(runs):
            # Every run is an object of its own, as if it came from a disk
            yield references[at % len(references)], candidates[at % len(candidates)] + b"# %d\n" % at

    start = time.perf_counter()
    points = {max(1, runs * share // 100) for share in (1, 5, 10, 25, 50, 75, 100)}
    for done, _ in enumerate(score_runs(pairs()), 1):
        if done in points:
            rate = done / (time.perf_counter() - start)
            print(f"  {done:>11,} runs: high water {peak_mb():7.1f} MB, {rate:,.0f} runs/s", flush=True)


def child(*args: str) -> str:
    """What this file prints in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *args], stdout=subprocess.PIPE, text=True)
    return done.stdout.rstrip() or f"failed with status {done.returncode}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast runs are scored.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds in which the contestants take turns")
    parser.add_argument("--runs", type=int, default=200_000, help="runs of the stream whose memory is watched")
    parser.add_argument("--size", type=int, default=50, help="MB of the large diff")
    parser.add_argument("--large", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--stream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.large:
        return large(*options.large)
    if options.stream:
        return stream(options.stream)

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    packages = ", ".join(f"{name} {version(name)}" for name in ("RapidFuzz", "unidiff"))
    print(f"Python {platform.python_version()}, {packages}; {cores} cores, one used{load}; {options.rounds} rounds")
    factor, best = speed(options.rounds)

    print("\nLarge inputs")
    print(f"  one added line of 1 MB, reference 1 kB: {long_line(1_000, 1_000_000)}")
    print(f"  one added line of 1 MB, reference 100 kB: {long_line(100_000, 1_000_000)}")
    print(f"  one added line of 1 MB on both sides: {long_line(1_000_000, 1_000_000)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.diff"
        write_large_diff(path, options.size * 1_000_000)
        for reader in ("read_diff", "unidiff.PatchSet"):
            print(f"  {reader}: {child('--large', str(path), reader)}", flush=True)

    print(f"\nMemory of one stream of {options.runs:,} runs")
    print(child("--stream", str(options.runs)))

    print("\nClaims")
    for claim, measured, holds in (
        (
            f">= {FASTER} times as fast as unidiff + RapidFuzz",
            f"{factor:.1f} times in the median round",
            factor >= FASTER,
        ),
        (
            f">= {RUNS_PER_SECOND:,} runs/s on one core",
            f"{best:,.0f} runs/s in the best round",
            best >= RUNS_PER_SECOND,
        ),
    ):
        print(f"  {'holds' if holds else 'DOES NOT HOLD':14} {claim}: {measured}")


if __name__ == "__main__":
    main()
