"""How an attempt is judged where no one text is right: hard assertions, then a rubric.

The modules import each other in one direction: trace, pictures -> assertions, rubric -> judge
"""

from skillpipe.judging.assertions import Assertions, Failed, failed_assertions
from skillpipe.judging.judge import Judge, Judgement
from skillpipe.judging.pictures import read_images
from skillpipe.judging.rubric import RubricItem, Verdict
from skillpipe.judging.trace import ToolCall, final_response, tool_calls, tool_message

__all__ = [
    "Assertions",
    "Failed",
    "Judge",
    "Judgement",
    "RubricItem",
    "ToolCall",
    "Verdict",
    "failed_assertions",
    "final_response",
    "read_images",
    "tool_calls",
    "tool_message",
]
