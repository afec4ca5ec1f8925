"""A map of 20,000 package descriptions, end to end, and its names beside c-TF-IDF.

    python -m benchmarks.text_maps corpus debian.csv     needs apt (Debian) and a network
    python -m benchmarks.text_maps run debian.csv        one JSON line for each side

`corpus` takes the English descriptions of Debian's packages, with the section as class, into a
folder of its own; nothing of the system changes. `run` times `dualfold embed` with a page, then
measures how well named groups agree with the sections: purity (rows of named groups whose section
is the commonest of their group), the share of rows that have a name, and how well a name tells its
group (share of rows with one of its terms: inside minus outside). c-TF-IDF is BERTopic's formula
(its own class where BERTopic is installed) on the same groups; BERTopic itself gets our vectors.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import dualfold

N_ROWS = 20_000
N_TERMS = 4
HELPER = "/usr/lib/apt/apt-helper"


def stanzas(path: Path) -> Iterator[dict[str, str]]:
    """The records of a list of apt."""
    text = subprocess.run([HELPER, "cat-file", str(path)], capture_output=True, text=True).stdout
    for block in text.split("\n\n"):
        fields, key = dict[str, str](), ""
        for line in block.split("\n"):
            if line.startswith(" ") and key:
                fields[key] += "\n" + line.strip().removeprefix(".")
            elif ":" in line:
                key, _, value = line.partition(":")
                fields[key] = value.strip()
        if "Package" in fields:
            yield fields


def write_corpus(path: str) -> None:
    """Download the lists of packages and write a sample with its sections."""
    with tempfile.TemporaryDirectory() as folder:
        lists = Path(folder, "lists")
        lists.joinpath("partial").mkdir(parents=True)
        options = (f"Dir::State::lists={lists}", f"Dir::Cache={folder}", "Acquire::Languages=en")
        words = [word for option in options for word in ("-o", option)]
        subprocess.run(["apt-get", *words, "update"], check=True, stdout=subprocess.DEVNULL)
        sections, texts = dict[str, str](), dict[str, str]()
        for file in sorted(lists.glob("*_main_*")):
            for one in stanzas(file):
                if "Section" in one:
                    sections[one["Package"]] = one["Section"].rsplit("/", 1)[-1]
                if "Description-en" in one:
                    texts[one["Package"]] = one["Description-en"]
    names = sorted(sections.keys() & texts.keys())
    drawn = np.sort(np.random.default_rng(0).permutation(len(names))[:N_ROWS])
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["package", "section", "description"])
        writer.writerows([names[i], sections[names[i]], texts[names[i]]] for i in drawn)


def embed_seconds(path: str) -> dict[str, float]:
    """The command with a page, as a user types it."""
    with tempfile.TemporaryDirectory() as folder:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        words = ["embed", path, "--text", "description", "--id", "package", "--color", "section"]
        outputs = ["-o", f"{folder}/map.csv", "--html", f"{folder}/map.html", "--quiet"]
        subprocess.run([sys.executable, "-m", "dualfold", *words, *outputs], check=True)
        seconds = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = Path(folder, "map.html").stat().st_size
    user = after.ru_utime - before.ru_utime
    return {"seconds": seconds, "cpu": user, "page MB": size / 1e6}


def agreement(codes: Any, classes: Any) -> dict[str, float]:
    """Purity of the groups of rows (−1: none) and the share of rows in one."""
    inside = codes >= 0
    table = pd.crosstab(codes[inside], classes[inside]).to_numpy()
    purity = float(table.max(axis=1).sum() / max(table.sum(), 1))
    return {"purity": purity, "named share": float(inside.mean()), "groups": len(table)}


def telling(present: Any, rows: list[Any], terms: list[list[int]]) -> float:
    """Rows with a term of the name, inside minus outside, mean over groups by size."""
    found, sizes = [], []
    for own, places in zip(rows, terms, strict=True):
        has = np.asarray(present[:, places].sum(axis=1)).ravel() > 0
        inside = np.zeros(len(has), dtype=bool)
        inside[own] = True
        found.append(has[inside].mean() - has[~inside].mean())
        sizes.append(len(own))
    return float(np.average(found, weights=sizes)) if found else float("nan")


def class_tf_idf(counts: Any) -> Any:
    """BERTopic's weights of terms in classes: tf·log(1 + A/f), A the mean words of a class."""
    try:
        from bertopic.vectorizers import ClassTfidfTransformer
    except ImportError:
        rows = np.asarray(counts.sum(axis=1)).ravel()
        idf = np.log(1 + rows.mean() / np.asarray(counts.sum(axis=0)).ravel())
        return sp.csr_array(sp.diags_array(1 / rows) @ counts @ sp.diags_array(idf))
    return ClassTfidfTransformer().fit_transform(sp.csr_matrix(counts))


def same_groups(found: Any, classes: Any) -> Iterator[dict[str, Any]]:
    """Our names at each level, and c-TF-IDF's of the same groups."""
    text = found.data.text
    present = sp.csr_array((text.weights > 0).astype(float))
    places = {term: place for place, term in enumerate(text.terms)}
    for level in (1, 2, 3):
        codes = found.judgement.groups.codes(level)
        shown = np.unique(codes[codes >= 0])
        rows = [np.flatnonzero(codes == code) for code in shown]
        ours = [[places[f.words] for f in found.judgement.groups[code].figures] for code in shown]
        every = [*rows, np.flatnonzero(codes < 0)]  # rows without a name are a class of their own
        counts = sp.vstack([sp.csr_array(present[own].sum(axis=0)[None, :]) for own in every])
        weights = np.asarray(class_tf_idf(sp.csr_array(counts)).toarray())
        theirs = [np.argsort(-line, kind="stable")[:N_TERMS].tolist() for line in weights[:-1]]
        measured = agreement(codes, classes)
        yield {
            "side": f"dualfold, level {level}",
            "telling": telling(present, rows, ours),
        } | measured
        yield {"side": f"c-TF-IDF, same groups, level {level}"} | {
            "telling": telling(present, rows, theirs)
        }


def bertopic(found: Any, texts: list[str], classes: Any) -> Iterator[dict[str, Any]]:
    """BERTopic with our vectors: UMAP and HDBSCAN by default, names by c-TF-IDF."""
    try:
        from bertopic import BERTopic
        from umap import UMAP
    except ImportError:
        return
    begin = time.perf_counter()
    maps = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0)
    model = BERTopic(umap_model=maps)
    topics = np.asarray(model.fit_transform(texts, embeddings=found.data.X)[0])
    seconds = time.perf_counter() - begin
    yield {"side": "BERTopic, our vectors", "seconds": seconds} | agreement(topics, classes)
    count = len(np.unique(found.judgement.groups.codes(3))) - 1
    model.reduce_topics(texts, nr_topics=count + 1)
    merged = np.asarray(model.topics_)
    yield {"side": "BERTopic, as many topics as level 3"} | agreement(merged, classes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=("corpus", "run"))
    parser.add_argument("file")
    asked = parser.parse_args()
    if asked.what == "corpus":
        write_corpus(asked.file)
        return
    print(json.dumps({"side": "dualfold embed"} | embed_seconds(asked.file)), flush=True)
    frame = pd.read_csv(asked.file, keep_default_na=False)
    found = dualfold.explore(frame, text="description", identifier="package", color="section")
    classes = frame["section"].to_numpy()[found.data.rows]
    for line in same_groups(found, classes):
        print(json.dumps(line), flush=True)
    texts = frame["description"].to_numpy()[found.data.rows].tolist()
    for line in bertopic(found, texts, classes):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
