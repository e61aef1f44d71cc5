"""How fast the variants score: runs a second on one core, nothing remembered from the round before.

python tests/bench_variants.py                              54 runs of data/archive
CRUCIBLE_PUBLIC=... python tests/bench_variants.py          300 public runs
python tests/bench_variants.py --rounds 15                  more rounds

What counts is the processor time of this process. References are read once, as they are for a whole archive; what is
made of them (tokens, canonical forms) is made anew in each round. The exit status is always 0: the last lines say
which claims hold on this machine, now.
"""

import argparse
import gc
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench_fix import workload

from crucible_nb.fix.diffs import Diff, read_diff
from crucible_nb.fix.images import piece_form
from crucible_nb.fix.variants import VARIANTS, token_texts

LEAST = {name: 100 if name == "semantic" else 1_000 for name in VARIANTS}  # Runs a second that are claimed


def forget() -> None:
    """Drop what is remembered of texts that were seen before."""
    piece_form.cache_clear()
    token_texts.cache_clear()


def seconds(name: str, runs: list[tuple[Diff, bytes]], rounds: int) -> float:
    """Processor time of scoring all runs once by a variant, in the best round."""
    best = float("inf")
    score = VARIANTS[name]
    for at in range(rounds + 1):
        forget()
        gc.collect()
        start = time.process_time()
        for reference, candidate in runs:
            score(reference, read_diff(candidate))
        if at:  # The first round is to warm up
            best = min(best, time.process_time() - start)
    return best


def measured(rounds: int) -> dict[str, float]:
    """Runs a second of each variant."""
    _, references, candidates = workload()
    runs = list(zip(references, candidates, strict=True))
    return {name: len(runs) / seconds(name, runs, rounds) for name in VARIANTS}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast the variants score.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which the best counts")
    rates = measured(parser.parse_args().rounds)
    print(f"{workload()[0]}, one core, runs a second in the best round")
    for name, rate in rates.items():
        verdict = "holds" if rate >= LEAST[name] else "DOES NOT HOLD"
        print(f"  {name:12}{rate:10,.0f}   {verdict}: at least {LEAST[name]:,}")


if __name__ == "__main__":
    main()
