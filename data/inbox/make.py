"""Make the inbox tasks: short extraction from made-up messages.

    python data/inbox/make.py [folder]

writes train.jsonl, val.jsonl and test.jsonl beside this file, or into `folder`: the same bytes every time. A
row is {id, input, answer, task_type}; `input` is the message, a line break, and `Question: ...`.

Each split has templates of its own, so a skill cannot gain on val or test by learning a sentence by heart.
What fills them (names, dates, numbers) comes from pools that the splits share.
"""

import json
import random
import sys
from pathlib import Path

SEED = 2026
ROWS = {"train": 60, "val": 36, "test": 60}  # a third of each per task type

POOLS = {
    "name": "Ada Bruno Chloe Diego Emma Farid Greta Hugo Ines Jonas Kira Liam Mona Nils Olga Pavel Rosa Sven",
    "surname": "Abel Baker Costa Duval Evans Fischer Garcia Hansen Ito Jansen Keller Lopez Moreau Olsen",
    "domain": "acme.example birch.example cedar.example delta.example harbor.example lumen.example",
    "event": "audit demo interview meeting party review training trip visit workshop",
    "room": "Amber Birch Cedar Dune Elm Fjord Grove Harbor Iris Jade",
    "items": "chairs desks keyboards lamps laptops monitors phones printers projectors tablets",
    "city": "Athens Bergen Cork Dublin Ghent Lisbon Lyon Malmo Oslo Porto Riga Seville Turin Vienna Zurich",
}
MONTHS = "January February March April May June July August September October November December"

# (message, question, which of the values is the answer)
Template = tuple[str, str, str]

TEMPLATES: dict[str, dict[str, list[Template]]] = {
    "train": {
        "date": [
            ("Hi {name}, the {event} will take place on {date}.", "When is the {event}?", "iso"),
            ("Please note that we moved the {event} to {date}.", "On which day is the {event}?", "iso"),
            ("The invoice for the {event} is due by {date}.", "When is the invoice due?", "iso"),
            ("{name} is on leave until {date} and back after that.", "Until when is {name} away?", "iso"),
        ],
        "address": [
            ("For the {event}, write to {email} before noon.", "Which address should I write to?", "email"),
            ("{name} has left us. Please use {email} from now on.", "Which address is in use now?", "email"),
            ("Send the signed form to {email}, not to me.", "Where does the form go?", "email"),
            ("My new address is {email}, the old one is closed.", "What is the new address?", "email"),
        ],
        "fact": [
            ("The {event} is in room {room}, on the second floor.", "In which room is the {event}?", "room"),
            ("We ordered {count} {items} for the new office.", "How many {items} were ordered?", "count"),
            ("{name} will fly to {city} for the {event}.", "To which city will {name} fly?", "city"),
            ("{name} takes over the {event} this year.", "Who takes over the {event}?", "name"),
        ],
    },
    "val": {
        "date": [
            ("Reminder: your {event} has been booked for {date}.", "What is the date of the {event}?", "iso"),
            ("Sorry, {date} is the only day left for the {event}.", "Which day is left?", "iso"),
            ("Your parcel left us and should arrive on {date}.", "When should the parcel arrive?", "iso"),
        ],
        "address": [
            ("Questions about the {event}? Ask {name} at {email}.", "How can I reach {name}?", "email"),
            ("The list of {items} should be mailed to {email}.", "Who should get the list?", "email"),
            ("Please copy {email} on all mails about {city}.", "Which address should be copied?", "email"),
        ],
        "fact": [
            (
                "Lunch after the {event} is served in the {room} room.",
                "Which room is lunch served in?",
                "room",
            ),
            ("There are {count} {items} left in the store.", "How many {items} are left?", "count"),
            ("Our next {event} will be held in {city}.", "In which city is the next {event}?", "city"),
        ],
    },
    "test": {
        "date": [
            ("Good news, {name}: the {event} starts on {date}.", "When does the {event} start?", "iso"),
            ("The office in {city} stays closed on {date}.", "On what day is the office closed?", "iso"),
            ("Your contract ends on {date} unless you renew it.", "When does the contract end?", "iso"),
            ("We must return the {items} no later than {date}.", "By when must they be returned?", "iso"),
        ],
        "address": [
            ("Could you forward this to {email}? Thanks, {name}.", "Where should it be forwarded?", "email"),
            ("To join the {event}, drop a line to {email}.", "Which address takes sign-ups?", "email"),
            ("{name} can be found under {email} this week.", "What is the address of {name}?", "email"),
            ("Bills for the {items} belong in {email}.", "Where do the bills go?", "email"),
        ],
        "fact": [
            ("We meet {name} in {room}, next to the kitchen.", "In which room do we meet?", "room"),
            ("The supplier in {city} sent {count} {items} too many.", "How many were too many?", "count"),
            ("The {items} are stored in {city} until the {event}.", "Where are the {items} stored?", "city"),
            ("{name} paid for the {event} with a private card.", "Who paid for the {event}?", "name"),
        ],
    },
}


def draw(rng: random.Random) -> dict[str, str]:
    """One value for every name that a template may use."""
    values = {key: rng.choice(pool.split()) for key, pool in POOLS.items()}
    year, month, day = rng.randint(2021, 2029), rng.randint(1, 12), rng.randint(1, 28)
    written = rng.choice(("{day} {month} {year}", "{month} {day}, {year}"))
    return values | {
        "email": "{name}.{surname}@{domain}".format(**values).lower(),
        "date": written.format(day=day, month=MONTHS.split()[month - 1], year=year),
        "iso": f"{year}-{month:02}-{day:02}",
        "count": str(rng.randint(11, 99)),
    }


def rows(split: str) -> list[dict[str, str]]:
    """The split's rows, task types in turn, each type's templates in turn, no input twice."""
    rng = random.Random(f"{SEED}/{split}")
    kinds = sorted(TEMPLATES[split])
    made: dict[str, dict[str, str]] = {}
    while len(made) < ROWS[split]:
        number = len(made)
        kind = kinds[number % len(kinds)]
        templates = TEMPLATES[split][kind]
        message, question, answer = templates[number // len(kinds) % len(templates)]
        values = draw(rng)
        text = f"{message}\nQuestion: {question}".format(**values)
        row = {
            "id": f"inbox-{split}-{number + 1:02}",
            "input": text,
            "answer": values[answer],
            "task_type": kind,
        }
        made.setdefault(text, row)
    return list(made.values())


def main(folder: Path) -> None:
    """Write the three files."""
    for split in ROWS:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows(split)]
        (folder / f"{split}.jsonl").write_bytes("".join(lines).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
