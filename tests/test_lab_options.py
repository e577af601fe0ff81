"""What the commands refuse before they load anything."""

from typing import Any

import pytest

from gpu_demos import speculative
from gpu_demos.measure import speed


@pytest.mark.parametrize("text", ["0", "-2", "1.5", "many", ""])
@pytest.mark.parametrize("command", [speculative, speed])
def test_counts_of_a_command_start_at_one(command: Any, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else ends with a sentence of argparse, before a model is loaded."""
    given = ["--tokens", text] if command is speed else ["--prompt", "a", "--turns", text]
    with pytest.raises(SystemExit) as error:
        command.main(given)
    assert error.value.code == 2
    assert f"{text!r} must be a whole number from 1 on" in capsys.readouterr().err
