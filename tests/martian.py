"""Reads a public review bench (CRUCIBLE_PUBLIC/review_martian) as a bench of this kit.

Its judge may match one finding with two musts and one must with several findings; here a finding keeps the heavier
must, and `superseded` findings are duplicates. It has no severities of findings, no cites and no places of musts.
"""

import gzip
import json
from pathlib import Path

from crucible_nb.rules import Rules

TAGS = {"Critical": "opus-critical", "High": "opus-critical", "Medium": "should", "Low": "nice"}


def lines(file: Path) -> list[dict]:
    """Objects of a JSON lines file."""
    with gzip.open(file, "rt", encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def write_bench(source: Path, folder: Path, judge: str = "opus-4.5") -> Path:
    """Write the files of a bench with the verdicts of one judge."""
    cells = json.loads((source / "martian_cells.json").read_text(encoding="utf-8")).values()
    musts = {row["must_id"]: row for row in lines(source / "musts.jsonl.gz")}
    findings = lines(source / f"findings_{judge}.jsonl.gz")
    verdicts = lines(source / f"verdicts_{judge}.jsonl.gz")
    arms = sorted({row["arm"] for row in findings})
    for cell in sorted(cells):
        own = [row for row in musts.values() if row["cell"] == cell]
        key = [{"id": row["must_id"], "tag": TAGS[row["severity"]], "claim": row["text"]} for row in own]
        write(folder / "key" / f"{cell}.json", {"cell": cell, "musts": key})
        for arm in arms:
            here = [row for row in findings if (row["cell"], row["arm"]) == (cell, arm)]
            said = [{"id": row["finding_id"], "severity": "nit", "claim": row["text"]} for row in here]
            write(folder / "arms" / arm / f"{cell}.json", {"cell": cell, "arm": arm, "findings": said})
            judged = [row for row in verdicts if (row["cell"], row["arm"]) == (cell, arm)]
            decided = decide(judged, musts)
            about = {"cell": cell, "arm": arm, "overseer": judge, "verdicts": decided}
            write(folder / "verdicts" / judge / arm / f"{cell}.json", about)
    return folder


def write(file: Path, content: dict) -> None:
    """Write a JSON file and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def decide(rows: list[dict], musts: dict[str, dict]) -> list[dict]:
    """One verdict a finding: its heaviest must, else a duplicate, else false."""
    weights = Rules().must_weights
    verdicts = []
    for finding in dict.fromkeys(row["finding_id"] for row in rows):
        own = [row for row in rows if row["finding_id"] == finding]
        matched = [row["must_id"] for row in own if row["status"] == "tp"]
        if matched:
            must = max(matched, key=lambda name: weights[TAGS[musts[name]["severity"]]])
            verdicts.append({"finding": finding, "decision": "must", "must": must})
        else:
            repeats = any(row["status"] == "superseded" for row in own)
            verdicts.append({"finding": finding, "decision": "duplicate" if repeats else "false"})
    return verdicts
