"""Images behind an API: sent after the first user message, told apart by what they show, kept as digests."""

import asyncio
import base64
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from asking import a_model, a_request, both_wires, rows
from fault_server import FaultServer, in_order
from skillpipe.models import Image

pytestmark = pytest.mark.usefixtures("toy_key")
BEFORE, AFTER = Image("before", "image/png", b"one picture"), Image("after", "image/jpeg", b"another picture")


def url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


@both_wires
def test_images_follow_the_text_of_the_first_user_message(path: Path, wire: str) -> None:
    request = a_request("look", images=(BEFORE, AFTER))
    with FaultServer(in_order("ok")) as server:
        asyncio.run(a_model(server, path, wire).complete(request))
    system, user = server.seen[0].body["messages"]
    assert system == {"role": "system", "content": "the skill"}
    assert user["content"][0] == {"type": "text", "text": "look"}
    assert [part["image_url"]["url"] for part in user["content"][1:]] == [url(BEFORE), url(AFTER)]


@both_wires
def test_the_same_picture_is_paid_for_once_and_another_is_another_call(path: Path, wire: str) -> None:
    same = a_request("look", images=(replace(BEFORE),))
    others = [a_request("look"), a_request("look", images=(AFTER,)), a_request("look", images=(BEFORE, AFTER))]
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path, wire)
        for request in (a_request("look", images=(BEFORE,)), same, *others):
            asyncio.run(model.complete(request))
    assert len(server.seen) == 4


def test_the_ledger_keeps_digests_and_no_picture(path: Path) -> None:
    with FaultServer(in_order("ok")) as server:
        asyncio.run(a_model(server, path).complete(a_request("look", images=(BEFORE,))))
    kept = rows(path)[0]["request"]
    assert kept["images"] == [["image/png", hashlib.sha256(BEFORE.data).hexdigest()]]
    assert base64.b64encode(BEFORE.data).decode() not in str(kept)
