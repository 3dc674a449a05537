"""What every Python client is asked, and how its script tells what became of it: one line of JSON for each try."""

import json
import os
import traceback

from pydantic import BaseModel

URL = os.environ["TOLLGATE_URL"]
BASE_URL = URL + "/v1"
KEY = os.environ["TOLLGATE_API_KEY"]

QUESTION = "What is the weather in Paris?"
WEATHER = "21 degrees and clear"
NAME = "My name is Ada."
WHO = "What is my name?"
SECOND_TURN = "turn 2 of our conversation"
PERSON = "We met Ada, who is 36 years old."
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGNgYPgPRgwQCgAd7gP9N/RE0AAAAABJRU5ErkJggg=="
WHAT = "What do you see?"
SEEN = "3×2 pixels"
# The models that see no pictures.
BLIND = os.environ["BLIND"].split(",")
# A model whose stream fails after three pieces.
FAILING = "sim-error-in-stream"


class Person(BaseModel):
    name: str
    age: int


def get_weather(city: str) -> str:
    """The weather of a city."""
    expect(city == "Paris", f"the tool was asked for {city!r}")
    return WEATHER


def expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise AssertionError(otherwise)


def expect_words(words: str, said: str) -> None:
    expect(words in said, f"{words!r} is not in {said!r}")


def expect_ada(person: Person) -> None:
    expect(person.name == "Ada" and person.age == 36, f"not Ada, 36: {person!r}")


def expect_refused(words: str, ask) -> None:
    """The client raises an error whose message has these words."""
    try:
        said = ask()
    except Exception as problem:
        expect(words in f"{type(problem).__name__}: {problem}", f"another error than {words}: {problem!r}")
        return
    raise AssertionError(f"no error, but {said!r}")


def expect_broken(stream) -> None:
    """The stream of the model FAILING begins, and ends with an error."""
    pieces = 0
    try:
        for _ in stream:
            pieces += 1
    except Exception as problem:
        expect(pieces > 0, f"an error before the stream: {problem!r}")
        return
    raise AssertionError(f"no error after {pieces} pieces")


def expect_sight(model: str, ask) -> None:
    """A model that sees pictures says what it sees; another one refuses with status 400."""
    if model in BLIND:
        expect_refused("400", ask)
    else:
        expect_words(SEEN, ask())


def play(tries) -> None:
    """`tries`: what is done, by format and feature; each is a function of the model's name."""
    for model in os.environ["MODELS"].split(","):
        for (door, feature), attempt in tries.items():
            error = None
            try:
                attempt(model)
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"[:1500]
                traceback.print_exc()
            print(json.dumps({"door": door, "feature": feature, "model": model, "error": error}), flush=True)
