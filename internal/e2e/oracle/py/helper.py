"""Answers commands on standard input, one JSON object a line:

    {"id": 1, "do": "append", "with": {"uri": "…", "start": 0, "n": 10}}
    {"id": 1, "ok": 3}   or   {"id": 1, "error": "…", "kind": "OSError", "trace": "…"}

Nothing else is written to standard output: what libraries print goes to standard error.
"""

import json
import os
import sys
import traceback


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import actions

    def say(o):
        answers.write(json.dumps(o, default=str) + "\n")
        answers.flush()

    say({"id": 0, "ok": actions.versions()})
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            say({"id": ask["id"], "ok": actions.COMMANDS[ask["do"]](**(ask.get("with") or {}))})
        except Exception as e:
            say({"id": ask["id"], "error": str(e), "kind": type(e).__name__, "trace": traceback.format_exc()})
        except BaseException as e:
            # A panic of the library arrives as an exception of its own kind.
            if isinstance(e, (KeyboardInterrupt, SystemExit)):
                raise
            say({"id": ask["id"], "error": str(e), "kind": type(e).__name__, "trace": traceback.format_exc()})


if __name__ == "__main__":
    main()
