"""Rewrite data/derived/: `make derived`. The same inputs give the same bytes."""

import gzip
import json
import os
from pathlib import Path

import pandas as pd

from crucible_nb.fix.archive import read_archive, score_table
from crucible_nb.plots import plot_groups
from crucible_nb.review.bench import read_bench
from crucible_nb.review.citations import LiveTree
from crucible_nb.review.match import ClaimMeasure, cosine
from crucible_nb.review.score import score_bench

DATA = Path(__file__).parents[1] / "data"


def main() -> None:
    """Score the archive and draw its figure."""
    runs = read_archive(DATA / "archive", DATA / "scenarios")
    table = runs.join(score_table(runs)).drop(columns=["reference", "candidate"])
    for name in ("matched_files", "missing_files", "extra_files"):
        table[name] = table[name].map("|".join)
    out = DATA / "derived"
    out.mkdir(exist_ok=True)
    table.to_csv(out / "archive_scores.csv", lineterminator="\n")
    right, wrong = table[table.hidden_passed], table[~table.hidden_passed]
    axes = plot_groups(
        table,
        marked="hidden_passed",
        marks=("passes the hidden tests", "fails them"),
        title=f"Right runs score {right.value.mean():.2f} on average, wrong runs {wrong.value.mean():.2f}",
    )
    axes.figure.savefig(out / "archive_values.png", dpi=160, metadata={"Software": None})
    bench_scores().to_csv(out / "bench_scores.csv", index=False, lineterminator="\n")
    if public := os.environ.get("CRUCIBLE_PUBLIC"):
        public_claims(Path(public)).to_csv(out / "public_claims.csv", lineterminator="\n", index=False)


def bench_scores() -> pd.DataFrame:
    """Score the review bench: its scores.csv."""
    bench = read_bench(DATA / "bench")
    return score_bench(bench, LiveTree(bench.history, bench.tree_commit))


def public_claims(public: Path) -> pd.DataFrame:
    """For each finding of a public bench: how alike is the nearest must, and at which rank is the one it matches?"""

    def rows(name: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in gzip.open(public / "review_martian" / f"{name}.jsonl.gz")]

    musts = {must["must_id"]: must for must in rows("musts")}
    matches: dict[str, set[str]] = {}
    for verdict in rows("verdicts_opus-4.5"):
        if verdict["must_id"]:
            matches.setdefault(verdict["finding_id"], set()).add(verdict["must_id"])
    alike = ClaimMeasure(must["text"] for must in musts.values())
    vectors = {name: alike.vector(must["text"]) for name, must in musts.items()}
    table = []
    for finding in rows("findings_opus-4.5"):
        words = alike.vector(finding["text"])
        scores = {name: cosine(words, vector) or 0.0 for name, vector in vectors.items()}
        in_cell = [name for name, must in musts.items() if must["cell"] == finding["cell"]]
        found = matches.get(finding["finding_id"], set())
        row = {"cell": finding["cell"], "arm": finding["arm"], "matched": int(bool(found))}
        row["best"] = round(max(scores[name] for name in in_cell), 6)
        for where, names in (("cell", in_cell), ("bench", list(musts))):
            order = sorted(names, key=lambda name: -scores[name])
            row[f"in_{where}"] = min((order.index(name) + 1 for name in found), default=None)
            row[f"of_{where}"] = len(order)
        table.append(row)
    return pd.DataFrame(table).astype({"in_cell": "Int64", "in_bench": "Int64"})


if __name__ == "__main__":
    main()
