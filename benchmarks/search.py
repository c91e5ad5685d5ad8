"""Search in trees: random patterns beside a matcher by definition; queries on a treebank beside the
counts of Stanford's Tregex; searches of a large corpus with an index.

    python benchmarks/search.py random --patterns 10000 --trees 200
    python benchmarks/search.py queries projects/english/corpus/ewt/dev.spacy
    python benchmarks/search.py corpus projects/english/corpus/ewt/dev.spacy --sentences 100000
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import spacy
import typer
from spacy.tokens import DocBin

from spacy_lal.annotations import sentence_trees
from spacy_lal.search.index import Index
from spacy_lal.search.tree_matching import TreeNodes
from spacy_lal.search.tree_patterns import compile_tree_pattern
from spacy_lal.trees.tree import ConstituentTree

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))

from tests.search.by_definition import matches, places, random_pattern, random_tree  # noqa: E402

COUNTS = ROOT / "tests" / "fixtures" / "search" / "tregex_counts.jsonl"
SELECTIVE = ("NP < (NN < dog)", "VP < (VBD < gave) < NP=object", "@SBAR < (WHNP < (WP < whom))")

app = typer.Typer(add_completion=False)


def trees_of(corpus: Path) -> Iterator[ConstituentTree]:
    for doc in DocBin().from_disk(corpus).get_docs(spacy.blank("en").vocab):
        yield from sentence_trees(doc)


@app.command("random")
def random_patterns(patterns: int = 10000, trees: int = 200, depth: int = 3, seed: int = 1) -> None:
    """Compare matches of random patterns on random trees with those by definition."""
    rng = random.Random(seed)
    made = [random_tree(rng, depth) for _ in range(trees)]
    nodes, by_definition = [TreeNodes(tree) for tree in made], [places(tree) for tree in made]
    total = wrong = 0
    for _ in range(patterns):
        pattern = random_pattern(rng)
        compiled = compile_tree_pattern(str(pattern))
        for tree, all_ in zip(nodes, by_definition, strict=True):
            ours, theirs = (
                sorted(sorted(match.items()) for match in found)
                for found in (compiled.matches(tree), matches(pattern, all_))
            )
            total += len(ours)
            if ours != theirs:
                wrong += 1
                print(f"{pattern}\n  {tree.tree}")
    print(f"{patterns} patterns, {trees} trees, {total} matches, {wrong} differ")


@app.command()
def queries(corpus: Path) -> None:
    """Count the matches of recorded queries in a treebank, and time them."""
    nodes = [TreeNodes(tree) for tree in trees_of(corpus)]
    seconds, wrong = 0.0, 0
    recorded = [json.loads(line) for line in COUNTS.open(encoding="utf8")]
    for record in recorded:
        pattern = compile_tree_pattern(record["query"])
        begun = process_time()
        counts = [sum(1 for _ in pattern.matches(tree)) for tree in nodes]
        seconds += (took := process_time() - begun)
        same = (sum(counts), sum(map(bool, counts))) == (record["matches"], record["trees"])
        wrong += not same
        print(f"{sum(counts):8} {took:7.3f} s {'' if same else '!= Tregex'} {record['query']}")
    print(f"{len(recorded)} queries, {len(nodes)} trees, {seconds:.1f} s, {wrong} differ")


@app.command()
def corpus(source: Path, sentences: int = 100_000) -> None:
    """Draw a number of a treebank's trees at random, repeated ones with a first word of their own,
    and search the lines of a file with and without an index."""
    bracketings = [str(tree) for tree in trees_of(source)]
    with tempfile.TemporaryDirectory() as folder:
        path, index_path = Path(folder, "trees.mrg"), Path(folder, "trees.index")
        offsets, rng = [0], random.Random(0)
        with path.open("w", encoding="utf8") as file:
            for k in range(sentences):
                mark = f"_{k})" if k >= len(bracketings) else ")"
                file.write(rng.choice(bracketings).replace(")", mark, 1) + "\n")
                offsets.append(file.tell())
        begun = process_time()
        with path.open(encoding="utf8") as file:
            index = Index.build(map(ConstituentTree.from_string, file))
        index.save(index_path)
        print(f"index: {process_time() - begun:.1f} s, {os.path.getsize(index_path) / 1e6:.1f} MB")
        for query in SELECTIVE:
            pattern = compile_tree_pattern(query)
            begun = process_time()
            candidates = Index.load(index_path).candidates(pattern)
            assert candidates is not None
            total = 0
            with path.open("rb") as file:
                for k in candidates:
                    file.seek(offsets[k])
                    tree = ConstituentTree.from_string(file.readline().decode("utf8"))
                    total += sum(1 for _ in pattern.matches(TreeNodes(tree)))
            print(
                f"{process_time() - begun:6.2f} s, {len(candidates)} candidates, {total}: {query}"
            )
        pattern = compile_tree_pattern(SELECTIVE[0])
        begun = process_time()
        with path.open(encoding="utf8") as file:
            for line in file:
                for _ in pattern.matches(TreeNodes(ConstituentTree.from_string(line))):
                    pass
        print(f"{process_time() - begun:6.2f} s without an index")


if __name__ == "__main__":
    app()
