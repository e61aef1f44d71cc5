"""Rewrite data/derived/: `make derived`. The same inputs give the same bytes."""

import gzip
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pandas as pd

from crucible_nb.fix.archive import read_archive, score_table
from crucible_nb.fix.diffs import FileChange, read_diff
from crucible_nb.fix.judgements import judge_table, read_judgements
from crucible_nb.fix.minimality import minimality_table
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import match_files
from crucible_nb.fix.variants import score_variants
from crucible_nb.plots import plot_groups
from crucible_nb.review.bench import read_bench
from crucible_nb.review.citations import LiveTree
from crucible_nb.review.match import ClaimMeasure, cosine
from crucible_nb.review.score import score_bench
from crucible_nb.review.standings import arm_totals

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import martian  # noqa: E402

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
    judge_vs_ceiling().to_csv(out / "judge_vs_ceiling.csv", lineterminator="\n", index=False)
    if public := os.environ.get("CRUCIBLE_PUBLIC"):
        public_untouched(Path(public)).to_csv(out / "public_untouched.csv", lineterminator="\n", index=False)
        public_claims(Path(public)).to_csv(out / "public_claims.csv", lineterminator="\n", index=False)
        public_precisions(Path(public)).to_csv(out / "public_precisions.csv", lineterminator="\n", index=False)
        public_citations(Path(public)).to_csv(out / "public_citations.csv", lineterminator="\n", index=False)
        public_scores(Path(public)).to_csv(out / "public_scores.csv", lineterminator="\n", index=False)
        public_variants(Path(public)).to_csv(out / "public_variants.csv", lineterminator="\n", index=False)
        public_reversed(Path(public)).to_csv(out / "public_reversed.csv", lineterminator="\n", index=False)


def bench_scores() -> pd.DataFrame:
    """Score the review bench: its scores.csv."""
    bench = read_bench(DATA / "bench")
    return score_bench(bench, LiveTree(bench.history, bench.tree_commit))


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


def public_scores(public: Path) -> pd.DataFrame:
    """The default score of each public run whose outcome is known."""
    runs = pd.read_csv(public / "swebench_lite" / "scores_nine_systems.csv")
    known = runs[runs.resolved.notna()].assign(resolved=lambda table: table.resolved.astype(bool))
    return known[["scenario", "system", "resolved", "value", "structural", "textual", "matched", "missing", "extra"]]


def public_runs(public: Path) -> list[dict[str, object]]:
    """The public runs that have diffs."""
    return [json.loads(line) for line in gzip.open(public / "swebench_lite" / "aider_runs.jsonl.gz")]


def public_variants(public: Path) -> pd.DataFrame:
    """Each public run with a diff by every variant; the numbers alone."""
    rows = []
    for run in public_runs(public):
        reference, candidate = read_reference(run["reference_diff"]), read_diff(run["candidate_diff"])
        scores = score_variants(reference, candidate)
        matched = match_files(reference.alternatives[0], candidate).matched
        lengths = sorted(sum(len("\n".join(pair[side].added or ())) for pair in matched) for side in (0, 1))
        rows.append(
            {
                "run_id": run["run_id"],
                "scenario": run["scenario"],
                "resolved": run["resolved"],
                "empty": not candidate.files,
                **{f"{name}_value": score.value for name, score in scores.items()},
                **{
                    f"{name}_textual": scores[name].textual
                    for name in ("ordered", "lines", "hunks", "tokens", "semantic")
                },
                **{f"{name}_structural": scores[name].structural for name in ("ordered", "located", "source_only")},
                "length_ratio": lengths[0] / lengths[1] if lengths[1] else None,
                "fallbacks": sum(note.kind == "fallback" for score in scores.values() for note in score.notes),
            }
        )
    return pd.DataFrame(rows)


def public_reversed(public: Path) -> pd.DataFrame:
    """Each public reference with several hunks in a file against itself, the hunks of each file in reverse."""
    rows = []
    for run in public_runs(public):
        reference = read_reference(run["reference_diff"]).alternatives[0]
        if max(len(file.hunks) for file in reference.files) < 2:
            continue
        scores = score_variants(reference, replace(reference, files=tuple(map(reverse_hunks, reference.files))))
        textual = {name: scores[name].textual for name in ("ordered", "lines", "hunks", "tokens", "semantic")}
        hunks = sum(len(file.hunks) for file in reference.files)
        rows.append({"scenario": run["scenario"], "files": len(reference.files), "in_hunks": hunks, **textual})
    return pd.DataFrame(rows)


def reverse_hunks(change: FileChange) -> FileChange:
    """A change whose hunks are printed in reverse."""
    hunks = change.hunks[::-1]
    added = tuple(line[1:] for hunk in hunks for line in hunk.lines if line[0] == "+")
    return replace(change, hunks=hunks, added=added)


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


def public_precisions(public: Path) -> pd.DataFrame:
    """Scores of a public bench by each averaging rule, beside its own published totals."""
    with tempfile.TemporaryDirectory() as scratch:
        martian.write_bench(public / "review_martian", Path(scratch) / "bench")
        (Path(scratch) / "tree").mkdir()
        scores = score_bench(read_bench(Path(scratch) / "bench"), LiveTree(Path(scratch) / "tree"))
    totals = arm_totals(scores, resamples=1)
    wide = totals.pivot(index="arm", columns=["figure", "average"], values="estimate")
    columns = [(name, average) for name in ("precision", "precision_literal") for average in ("micro", "macro")]
    table = wide[columns].set_axis(["_".join(column) for column in columns], axis=1)
    table["cells_with_findings"] = scores[scores.findings > 0].groupby("arm").size()
    counts = scores.groupby("arm")[["findings", "matched", "false_findings", "duplicates"]].sum()
    rows = pd.read_csv(public / "review_martian" / "published_overall_opus-4.5.csv")
    rows = rows[rows.scope == "overall"].pivot(index="tool", columns="metric", values="published")
    published = rows[["tp", "fp", "fn", "precision", "recall"]].add_prefix("published_").rename_axis("arm")
    return counts.join(table).join(published).reset_index()


def public_citations(public: Path) -> pd.DataFrame:
    """Real review citations by what the right and the wrong tree say of them, and by how many quotes are there."""
    rows = pd.read_csv(public / "review_aacr" / "citations.csv")
    rows["quoted"] = (rows.quotes > 0).astype(int)
    rows["no_quote_in_file"] = ((rows.quotes > 0) & (rows.quotes_in_file == 0)).astype(int)
    keys = ["verdict", "head_bucket", "base_bucket", "quoted", "no_quote_in_file"]
    return rows.groupby(keys, sort=True).size().rename("citations").reset_index()


if __name__ == "__main__":
    main()
