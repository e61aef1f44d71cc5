"""Rewrite data/derived/: `make derived`. The same inputs give the same bytes."""

import gzip
import json
import os
from pathlib import Path

import pandas as pd

from crucible_nb.fix.archive import read_archive, score_table
from crucible_nb.fix.judgements import judge_table, read_judgements
from crucible_nb.fix.minimality import minimality_table
from crucible_nb.plots import plot_groups
from crucible_nb.review.match import ClaimMeasure, cosine

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
    judge_vs_ceiling().to_csv(out / "judge_vs_ceiling.csv", lineterminator="\n", index=False)
    if public := os.environ.get("CRUCIBLE_PUBLIC"):
        public_untouched(Path(public)).to_csv(out / "public_untouched.csv", lineterminator="\n", index=False)
        public_claims(Path(public)).to_csv(out / "public_claims.csv", lineterminator="\n", index=False)


def judge_vs_ceiling() -> pd.DataFrame:
    """Every judgement beside its ceiling, the outcome of its run, and how much the run touched."""
    runs = read_archive(DATA / "archive", DATA / "scenarios")
    judgements = read_judgements(*sorted((DATA / "judge").glob("*.jsonl")))
    table = judge_table(runs.join(score_table(runs)), judgements).drop(columns="justification")
    touched = minimality_table(runs).drop(columns=["files", "reference_files", "undefined"])
    table = table.join(touched, on="run_id")
    return table[[name for name in table if name not in ("undefined", "signature")] + ["undefined", "signature"]]


def public_untouched(public: Path) -> pd.DataFrame:
    """How many public runs touch no file of the reference, and how many of these are right all the same."""
    runs = pd.read_csv(public / "swebench_lite" / "scores_nine_systems.csv")
    known = runs[runs.resolved.notna()]
    resolved, untouched = known.resolved.astype(bool), known.matched == 0
    counts = pd.DataFrame(
        {
            "system": known.system,
            "runs": 1,
            "resolved": resolved.astype(int),
            "untouched": untouched.astype(int),
            "untouched_resolved": (resolved & untouched).astype(int),
        }
    )
    return counts.groupby("system", sort=True).sum().reset_index()


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
