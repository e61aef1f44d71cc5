"""How fast reviews are scored, and how much memory that takes.

make bench                                         20,000 findings from files, 2,000,000 rows of a table
python tests/bench_review.py --full                200,000 findings from files, 20,000,000 rows of a table

The exit status is always 0: each line says whether its claim holds on this machine, now.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent))

from reviewkit import write  # noqa: E402

from crucible_nb.review.bench import read_bench  # noqa: E402
from crucible_nb.review.citations import LiveTree  # noqa: E402
from crucible_nb.review.score import FINDING_BUCKETS, score_bench, score_findings  # noqa: E402

SEVERITIES = ["critical", "major", "minor", "nit"]
TAGS = ["opus-critical", "should", "nice"]
DECISIONS = ["must", "real", "anti_hit", "false", "duplicate", "neutral", "unjudged"]


def write_files(root: Path, arms: int, cells: int = 50, findings: int = 100) -> Path:
    """A bench with 20 musts a cell, each earned in every run; every tenth quote is absent."""
    draw = random.Random(0)
    for number in range(cells):
        cell, path = f"c{number:02}", f"m{number}.py"
        code = "".join(f"def f{k}(x):\n    y = x + {k * number}\n    return y * {k}\n\n\n" for k in range(100))
        (root / "tree").mkdir(parents=True, exist_ok=True)
        (root / "tree" / path).write_text(code)
        musts = [
            {"id": f"{cell}-m{k}", "tag": TAGS[k % 3], "claim": "x", "path": path, "line": 5 * k + 2, "symbol": f"f{k}"}
            for k in range(20)
        ]
        write(root / "key" / f"{cell}.json", {"cell": cell, "musts": musts})
        for arm in (f"a{at:02}" for at in range(arms)):
            said, decided = [], []
            for n in range(findings):
                k = draw.randrange(100)
                quote = f"    y = x + {k * number}" if n % 10 else "not there at all"
                cite = {"path": path, "line": 5 * k + 2, "quote": quote}
                claim = "A claim of some length, in two sentences. And another that says what follows."
                said.append({"id": f"f{n}", "severity": draw.choice(SEVERITIES), "claim": claim, "cites": [cite]})
                verdict = (
                    {"decision": "must", "must": f"{cell}-m{n}"}
                    if n < 20
                    else {"decision": draw.choice(["real", "false"])}
                )
                decided.append({"finding": f"f{n}", "cites": "ok", **verdict})
            write(root / "arms" / arm / f"{cell}.json", {"cell": cell, "arm": arm, "findings": said})
            about = {"cell": cell, "arm": arm, "overseer": "o", "verdicts": decided}
            write(root / "verdicts" / "o" / arm / f"{cell}.json", about)
    return root


def make_table(rows: int, arms: int = 200, cells: int = 50, musts: int = 1000) -> tuple[pd.DataFrame, ...]:
    """Findings, musts and runs; every arm earns every second must."""
    draw = np.random.default_rng(0)
    runs = pd.DataFrame([(f"arm{a}", f"cell{c}", "ok") for a in range(arms) for c in range(cells)])
    keys = [(f"cell{c}", f"m{c}_{k}", TAGS[k % 3]) for c in range(cells) for k in range(musts)]
    earned = min(arms * cells * musts // 2, rows // 4)
    arm = draw.integers(arms, size=rows, dtype=np.int16)
    cell = draw.integers(cells, size=rows, dtype=np.int8)
    decision = draw.integers(1, len(DECISIONS), size=rows, dtype=np.int8)
    must = np.full(rows, -1, dtype=np.int32)
    at, pairs = draw.permutation(rows)[:earned], np.arange(earned)
    decision[at], arm[at], must[at] = 0, pairs % arms, 2 * (pairs // arms)
    cell[at] = must[at] // musts
    categorical = pd.Categorical.from_codes
    findings = pd.DataFrame(
        {
            "arm": categorical(arm, [f"arm{a}" for a in range(arms)]),
            "cell": categorical(cell, [f"cell{c}" for c in range(cells)]),
            "decision": categorical(decision, DECISIONS),
            "must": categorical(must, [key[1] for key in keys]),
            "severity": categorical(draw.integers(4, size=rows, dtype=np.int8), SEVERITIES),
            "bucket": categorical(draw.integers(7, size=rows, dtype=np.int8), list(FINDING_BUCKETS)),
            "strict": pd.array(draw.integers(2, size=rows).astype(bool), dtype="boolean"),
        }
    )
    return (
        findings,
        pd.DataFrame(keys, columns=["cell", "must", "tag"]),
        runs.set_axis(["arm", "cell", "status"], axis=1),
    )


def memory() -> float:
    """The most memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Measure both and say whether the claims hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="the sizes that are claimed; a minute and 2 GB")
    full = parser.parse_args().full
    with tempfile.TemporaryDirectory() as scratch:
        root = write_files(Path(scratch), 40 if full else 4)
        start = time.perf_counter()
        bench = read_bench(root)
        read = time.perf_counter() - start
        scores = score_bench(bench, LiveTree(root / "tree"))
        taken, n = time.perf_counter() - start, int(scores["findings"].sum())
    claim = n / 200_000 * 60
    print(
        f"{n:,} findings from files: {taken:.1f} s, {read:.1f} s of it reading, {memory():.2f} GB; "
        f"{verdict(taken < claim)}"
    )
    findings, musts, runs = make_table(20_000_000 if full else 2_000_000)
    start = time.perf_counter()
    scores = score_findings(findings, musts, runs)
    taken, n = time.perf_counter() - start, int(scores["findings"].sum())
    holds = taken < 60 and memory() < 4
    print(f"{n:,} rows of a table: {taken:.1f} s, {memory():.2f} GB with the table; {verdict(holds)}")


def verdict(holds: bool) -> str:
    """Whether a claim holds."""
    return "claim holds" if holds else "CLAIM DOES NOT HOLD"


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore", "wrong tree")
    main()
