"""envs/dataset/templates.py: what the target is sent around a row, and what it is never sent."""

import json

import pytest

from skillpipe.envs.dataset import Dataset
from skillpipe.errors import SkillpipeError
from skillpipe.scoring import exact

ROW = {"id": "t1", "input": "one?", "answer": "secret", "reference": "hush", "context": "A <b> & c", "my field": "x"}


def sent(folder, prompt, row=ROW, **settings):
    (folder / "train.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    return Dataset(str(folder), prompt, exact, **settings).tasks("train")[0].input


def refusal(folder, prompt, **settings):
    with pytest.raises(SkillpipeError) as caught:
        sent(folder, prompt, **settings)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    "prompt", ["{input}", 'Like {"a": 1}: {input}', "{x} {input} { input }", "% {input} }} $x {#id}", "{input}{input}"]
)
def test_in_a_plain_prompt_the_placeholder_alone_is_replaced(tmp_path, prompt):
    assert sent(tmp_path, prompt) == prompt.replace("{input}", "one?")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("{{ input }}!", "one?!"),
        ("{{ context }}\n{{ input }}\n", "A <b> & c\none?\n"),
        ('{{ row["my field"] }} {input}', "x {input}"),
        ("{% for word in context.split() %}{{ loop.index }}{{ word }} {% endfor %}", "1A 2<b> 3& 4c "),
        ("{% if context %}{{ input | upper }}{% endif %}", "ONE?"),
    ],
)
def test_a_text_with_double_braces_or_a_tag_is_a_template_over_the_rows_fields(tmp_path, prompt, text):
    assert sent(tmp_path, prompt) == text


def test_what_a_row_holds_is_text_and_no_template(tmp_path):
    assert sent(tmp_path, "{{ input }}", ROW | {"input": "{{ answer }} {input}"}) == "{{ answer }} {input}"


def test_an_input_template_makes_the_input_that_the_prompt_stands_around(tmp_path):
    row = {"id": "t1", "question": "one?", "options": ["a", "b"], "answer": "a"}
    made = "{{ question }}{% for option in options %} {{ option }}{% endfor %}"
    assert sent(tmp_path, "Q: {input}", row, input_template=made) == "Q: one? a b"
    assert sent(tmp_path, "Q: {{ input }} {{ question }}", row, input_template=made) == "Q: one? a b one?"


@pytest.mark.parametrize("hidden", ["answer", "reference", 'row["answer"]', "row.reference"])
def test_answer_and_reference_are_out_of_reach_of_a_template(tmp_path, hidden):
    assert "fields are context, id, input, my field" in refusal(tmp_path, f"{{{{ input }}}} {{{{ {hidden} }}}}")


def test_the_reference_is_on_the_task_and_not_in_what_is_sent(tmp_path):
    text = sent(tmp_path, "{input}")
    task = Dataset(str(tmp_path), "{input}", exact).tasks("train")[0]
    assert task.reference == "hush"
    assert "hush" not in text


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Q:", "env.prompt is 'Q:'; it must hold {input}"),
        ("{{ input", "env.prompt: line 1 is no Jinja2"),
        ("{% if %}{{ input }}", "env.prompt: line 1 is no Jinja2"),
        ("{{ input | shout }}", "No filter named 'shout'"),
        ("{{ input | random }}", "No filter named 'random'"),
        ("{{ 1 + 1 }} {% raw %}{{ input }}{% endraw %}", "a template that names no field"),
        ("{{ lipsum() }}", "train.jsonl:1: env.prompt: 'lipsum' is undefined"),
        ("{{ contxt }} {{ input }}", "train.jsonl:1: env.prompt: 'contxt' is undefined; fields are context, id"),
        ("{{ input.__class__.__mro__ }}", "train.jsonl:1: env.prompt: access to attribute '__class__'"),
        ("{{ input / 2 }}", "train.jsonl:1: env.prompt: unsupported operand"),
        ("{% include 'x' %}{{ input }}", "train.jsonl:1: env.prompt: no loader for this environment"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_refused_in_one_line(tmp_path, prompt, said):
    assert said in refusal(tmp_path, prompt)


def test_an_input_template_must_name_fields(tmp_path):
    assert "env.input_template is 'question'; name the row's fields" in refusal(
        tmp_path, "{input}", input_template="question"
    )


def test_a_prompt_in_a_file_may_hold_what_the_configuration_would_interpolate(tmp_path):
    (tmp_path / "prompt.txt").write_text("Pay ${amount}: {input}\n", "utf-8")
    assert sent(tmp_path, None, prompt_file=str(tmp_path / "prompt.txt")) == "Pay ${amount}: one?\n"


@pytest.mark.parametrize(
    ("prompt", "file", "said"),
    [
        (None, None, "give prompt, or prompt_file and prompt: null"),
        ("{input}", "prompt.txt", "give prompt, or prompt_file and prompt: null"),
        (None, "gone.txt", "gone.txt: no such file"),
        (None, "../prompt.txt", "it must lie in "),
    ],
)
def test_a_prompt_file_that_cannot_be_used_is_refused(tmp_path, prompt, file, said):
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "prompt.txt").write_text("{input}", "utf-8")
    assert said in refusal(data, prompt, prompt_file=file and str(data / file))


def test_a_template_comes_through_the_configuration_as_it_is_written(bench):
    path = bench.root / "conf/env/toy.yaml"
    plain = 'prompt: "Word: {input}\\nCapitals:"'
    assert plain in path.read_text("utf-8")
    template = "prompt: 'Word: {{ input }} {% if id %}{{ row[\"id\"] | length }}{% endif %}'"
    bench.write("conf/env/toy.yaml", path.read_text("utf-8").replace(plain, template))
    assert bench.run_here("compose", "env=toy", "target=toy", "gate=toy", "batch_size=8").code == 0
    assert bench.run_here("plan", "conf=conf", "skill=skills/toy", "out=runs/plan").code == 0
    first = (bench.root / "runs/plan/train.jsonl").read_text("utf-8").splitlines()[0]
    assert json.loads(first)["input"] == "Word: wordaa 6"
