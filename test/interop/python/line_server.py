"""Answers requests, one JSON object per line: {"op": ..., arguments} -> {"value": ...} or {"error": ...}."""

import json
import sys


class Refused(Exception):
    """The device answered with a Modbus exception."""

    def __init__(self, code):
        super().__init__(f"Modbus exception {code}")
        self.code = code


def serve(operations, out=None):
    """Calls operations[op](**arguments) until the input ends. out: where answers go, if not to the standard output."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"value": operations[request.pop("op")](**request)}
        except Refused as refusal:
            answer = {"error": {"message": str(refusal), "exception": refusal.code}}
        except Exception as fault:  # whatever the library throws is the test's to judge
            answer = {"error": {"message": f"{type(fault).__name__}: {fault}", "exception": None}}
        print(json.dumps(answer), file=out, flush=True)
