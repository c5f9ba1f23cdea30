"""Make the word-guessing tasks: clues to single words, of three kinds.

    python data/words/make.py [folder]

writes train.jsonl, val.jsonl and test.jsonl beside this file, or into `folder`: the same bytes every time. A row is
{id, input, answer, task_type, choices}; `input` is the clue, `choices` are three words of its kind, the answer one of
them. No word is the answer in two splits, or stands among the choices of another split.
"""

import json
import random
import sys
from pathlib import Path

SEED = 2026
EACH = {"train": 15, "val": 10, "test": 15}  # rows of each kind

CLUES = {
    "capital": "the capital of {}",
    "past": "the past tense of {}",
    "plural": "the plural of {}",
}
PAIRS = {
    "capital": """
        France Paris, Germany Berlin, Italy Rome, Spain Madrid, England London, Japan Tokyo, China Beijing,
        Russia Moscow, Egypt Cairo, Greece Athens, Ireland Dublin, Portugal Lisbon, Austria Vienna, Poland Warsaw,
        Norway Oslo, Sweden Stockholm, Finland Helsinki, Denmark Copenhagen, Hungary Budapest, Turkey Ankara,
        Iran Tehran, Iraq Baghdad, Kenya Nairobi, Cuba Havana, Peru Lima, Chile Santiago, Canada Ottawa,
        Australia Canberra, Thailand Bangkok, Belgium Brussels, Syria Damascus, Lebanon Beirut, Romania Bucharest,
        Bulgaria Sofia, Serbia Belgrade, Croatia Zagreb, Colombia Bogota, Vietnam Hanoi, Scotland Edinburgh,
        Wales Cardiff
    """,
    "past": """
        go went, see saw, eat ate, take took, come came, give gave, find found, think thought, buy bought,
        teach taught, catch caught, write wrote, drive drove, speak spoke, break broke, fly flew, know knew, grow grew,
        sing sang, swim swam, run ran, begin began, drink drank, ring rang, sit sat, stand stood, tell told, sell sold,
        feel felt, keep kept, sleep slept, meet met, lose lost, make made, say said, hear heard, hold held, build built,
        send sent, win won
    """,
    "plural": """
        child children, man men, woman women, foot feet, tooth teeth, goose geese, mouse mice, person people,
        leaf leaves, knife knives, wife wives, wolf wolves, shelf shelves, half halves, city cities, baby
        babies, lady ladies, story stories, berry berries, party parties, box boxes, bus buses, dish dishes,
        church churches, watch watches, potato potatoes, hero heroes, class classes, glass glasses, fox foxes,
        dog dogs, book books, house houses, day days, key keys, boy boys, tree trees, hand hands, idea ideas,
        photo photos
    """,
}


def rows() -> dict[str, list[dict[str, object]]]:
    """The rows of each split; kinds take turns."""
    rng = random.Random(SEED)
    made: dict[str, list[dict[str, object]]] = {split: [] for split in EACH}
    parts = {kind: _parts(text, rng) for kind, text in PAIRS.items()}
    for split, each in EACH.items():
        for number in range(each):
            for kind, clue in CLUES.items():
                asked, answer = parts[kind][split][number]
                others = [word for _, word in parts[kind][split] if word != answer]
                choices = rng.sample([answer, *rng.sample(others, 2)], 3)
                key = f"words-{split}-{len(made[split]) + 1:02}"
                row = {"id": key, "input": clue.format(asked), "answer": answer, "task_type": kind, "choices": choices}
                made[split].append(row)
    return made


def _parts(text: str, rng: random.Random) -> dict[str, list[tuple[str, str]]]:
    """The pairs of one kind, shuffled and shared out over the splits."""
    pairs = [(pair.split()[0], pair.split()[1]) for pair in text.split(",")]
    rng.shuffle(pairs)
    ends = iter(pairs)
    return {split: [next(ends) for _ in range(each)] for split, each in EACH.items()}


def main(folder: Path) -> None:
    """Write the three files."""
    for split, made in rows().items():
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in made]
        (folder / f"{split}.jsonl").write_bytes("".join(lines).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
