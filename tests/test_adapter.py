"""adapter: EnvAdapter, and the records that adapters and trainers exchange."""

import copy

import pytest

from skillpipe.adapter import (
    BatchSpec,
    Edit,
    EnvAdapter,
    FailureSummaryEntry,
    GateResult,
    Patch,
    RawPatch,
    RolloutResult,
)
from skillpipe.errors import SkillpipeError

NEEDED = {
    "build_train_env": lambda self, batch_size, seed, **kwargs: ("train", batch_size, seed, kwargs),
    "build_eval_env": lambda self, env_num, split, seed, **kwargs: ("eval", split, env_num, seed, kwargs),
    "rollout": lambda self, env_manager, skill_content, out_dir, **kwargs: [],
    "get_task_types": lambda self: ["one"],
}
ITEMS = [{"id": number, "task_type": kind} for number, kind in enumerate("aabbc")]


def adapter(**methods) -> EnvAdapter:
    return type("Mine", (EnvAdapter,), NEEDED | methods)()


def failures(*ids):
    return [{"id": str(key), "hard": 0} for key in ids]


@pytest.mark.parametrize("name", NEEDED)
def test_an_adapter_without_one_of_the_four_methods_cannot_be_made(name):
    methods = {key: value for key, value in NEEDED.items() if key != name}
    with pytest.raises(TypeError, match=name):
        type("Mine", (EnvAdapter,), methods)()


def test_four_methods_are_enough():
    mine = adapter()
    assert (mine.get_dataloader(), mine.requires_ray()) == (None, False)


def test_setup_keeps_a_copy_of_the_configuration():
    mine, cfg = adapter(), {"a": 1}
    mine.setup(cfg)
    cfg["a"] = 2
    assert mine._cfg == {"a": 1}


def test_reflect_says_who_reflects_here():
    with pytest.raises(SkillpipeError, match="the optimizer reflects, not the adapter; choose one in conf/optimizer"):
        adapter().reflect([], "skill", "out")


@pytest.mark.parametrize(
    ("batch", "environment"),
    [
        (BatchSpec("train", "train", 7, 3), ("train", 3, 7, {"out_root": "o"})),
        (BatchSpec("eval", "valid_seen", 7, 3), ("eval", "valid_seen", 3, 7, {"out_root": "o"})),
        (BatchSpec("eval", "train", 7, 3), ("eval", "train", 3, 7, {"out_root": "o"})),
    ],
)
def test_a_batch_becomes_an_environment_by_its_phase(batch, environment):
    assert adapter().build_env_from_batch(batch, out_root="o") == environment


@pytest.mark.parametrize(("item", "text"), [({"reference_text": " a "}, "a"), ({"reference_text": None}, ""), ({}, "")])
def test_the_reference_of_an_item_is_its_reference_text(item, text):
    assert adapter().build_reference_text(item) == text


def test_reference_metadata_names_the_field_and_shows_400_characters():
    mine = adapter()
    assert mine.get_reference_metadata({}) == {"fields": [], "preview": ""}
    shown = {"fields": ["reference_text"], "preview": "x" * 400}
    assert mine.get_reference_metadata({"reference_text": "x" * 500}) == shown


def test_references_are_joined_to_rows_by_the_text_of_the_id_and_change_nothing_that_was_given():
    rows, items = [{"id": "1", "hard": 0}, {"id": "2"}, {"id": "9"}], [{"id": 1, "reference_text": "r"}, {"id": 2}]
    before = copy.deepcopy((rows, items))
    joined = adapter().attach_reference_context(rows, items)
    assert joined == [{"id": "1", "hard": 0, "reference_text": "r"}, {"id": "2"}, {"id": "9"}]
    assert (rows, items) == before
    assert adapter().attach_reference_context(rows, None) == rows


def test_a_reference_of_the_adapters_own_is_the_one_that_is_joined():
    mine = adapter(build_reference_text=lambda self, item: f"see {item['id']}")
    assert mine.attach_reference_context([{"id": "1"}], [{"id": 1}]) == [{"id": "1", "reference_text": "see 1"}]


@pytest.mark.parametrize("seed", range(20))
def test_every_task_type_is_picked_before_any_is_picked_again(seed):
    picked = adapter().select_representative_items(failures(*range(5)), ITEMS, n_failures=4, n_successes=0, seed=seed)
    assert {item["task_type"] for item in picked[:3]} == {"a", "b", "c"}
    assert len({item["id"] for item in picked}) == len(picked) == 4


def test_picks_are_by_outcome_failures_first_and_the_same_for_a_seed():
    rows = [*failures(0, 1), {"id": 2, "hard": 0.3}, {"id": 3, "hard": 1}]
    picks = [adapter().select_representative_items(rows, ITEMS, n_failures=1, n_successes=5, seed=3) for _ in range(2)]
    assert picks[0] == picks[1]
    assert picks[0][0]["id"] in (0, 1)
    assert {item["id"] for item in picks[0][1:]} == {2, 3}


def test_another_seed_picks_others():
    mine = adapter()
    picks = [
        mine.select_representative_items(failures(*range(5)), ITEMS, n_failures=1, n_successes=0, seed=n)
        for n in range(20)
    ]
    assert len({pick["id"] for [pick] in picks}) > 1


def test_nothing_is_picked_twice_from_rows_of_unknown_items_or_of_none():
    rows = [*failures(0, 0, "gone"), {"id": 0, "hard": 1}]
    picked = adapter().select_representative_items(rows, ITEMS, n_failures=3, n_successes=3, seed=1)
    assert picked == [ITEMS[0]]
    assert adapter().select_representative_items(rows, None, n_failures=3, n_successes=3) == []


def test_the_kind_of_a_row_goes_before_that_of_its_item():
    rows = [{"id": number, "hard": 0, "task_type": "same"} for number in range(4)]
    rows[3]["task_type"] = "other"
    for seed in range(10):
        picked = adapter().select_representative_items(rows, ITEMS, n_failures=2, n_successes=0, seed=seed)
        assert ITEMS[3] in picked


FULL = Edit("replace", "new", "old", 3, "success", 2, "step", "skill")


@pytest.mark.parametrize("edit", [FULL, Edit("append"), Edit("delete", target="x", support_count=0)])
def test_an_edit_comes_back_from_its_dict(edit):
    assert Edit.from_dict(edit.to_dict()) == edit


def test_the_dict_of_an_edit_has_op_and_content_and_what_is_not_empty():
    assert Edit("append").to_dict() == {"op": "append", "content": ""}
    assert Edit("append", "c", support_count=0).to_dict() == {"op": "append", "content": "c", "support_count": 0}
    assert set(FULL.to_dict()) == {
        "op", "content", "target", "support_count", "source_type", "merge_level", "update_origin", "update_target",
    }  # fmt: skip


def test_an_edit_without_an_op_is_an_append():
    assert Edit.from_dict({"content": "c", "unknown": 1}) == Edit("append", "c")


@pytest.mark.parametrize("patch", [Patch(), Patch([FULL], "why", {"kept": [0]})])
def test_a_patch_comes_back_from_its_dict(patch):
    assert Patch.from_dict(patch.to_dict()) == patch
    assert ("ranking_details" in patch.to_dict()) == (patch.ranking_details is not None)


@pytest.mark.parametrize(
    "raw", [RawPatch(Patch()), RawPatch(Patch([FULL]), "success", 8, [FailureSummaryEntry("kind", 2, "what")])]
)
def test_a_raw_patch_comes_back_from_its_dict(raw):
    assert RawPatch.from_dict(raw.to_dict()) == raw
    assert ("failure_summary" in raw.to_dict()) == bool(raw.failure_summary)


def test_a_raw_patch_may_be_none_bare_or_nothing_usable():
    assert RawPatch.from_dict(None) is None
    assert RawPatch.from_dict({"patch": "text"}) is None
    assert RawPatch.from_dict({"edits": [{"content": "c"}]}) == RawPatch(Patch([Edit("append", "c")]), "failure", 0)


def test_a_rollouts_other_fields_come_back_as_extras():
    row = {"id": 3, "hard": 1, "soft": 1, "n_turns": "4", "fail_reason": None, "mine": [1], "extras": {"more": 2}}
    result = RolloutResult.from_dict(row)
    assert (result.id, result.hard, result.soft, result.n_turns) == ("3", 1, 1.0, 4)
    assert result.extras == {"mine": [1], "more": 2}
    assert result.to_dict() == {"id": "3", "hard": 1, "soft": 1.0, "n_turns": 4, "fail_reason": "None"} | result.extras


@pytest.mark.parametrize(("given", "kept"), [(0, 0), (1, 1), (0.3, 0.3), (True, True), ("0.5", 0.5)])
def test_a_fraction_in_hard_is_kept(given, kept):
    assert RolloutResult.from_dict({"id": "a", "hard": given, "soft": 0}).hard == kept


def test_a_row_without_fields_has_the_defaults():
    assert RolloutResult.from_dict({}) == RolloutResult("", 0, 0.0)
    assert RolloutResult.from_dict({}).to_dict() == {"id": "", "hard": 0, "soft": 0.0}


def test_a_gates_result_cannot_be_changed():
    result = GateResult("accept", "new", 0.5, "best", 0.6, 2)
    with pytest.raises(AttributeError):
        result.action = "reject"
