"""What the simulator of mosaik refuses, asked as mosaik asks it. Prints the texts."""

import json
import sys

from cosim.mosaik_simulator import DerbenchSim

url = sys.argv[1]
PLACE = {"device": 0, "bus": "n1", "phases": "b"}


def session(create, inputs=None, init=None):
    simulator = DerbenchSim()
    try:
        simulator.init("sim", **{"url": url, **(init or {})})
        for model, count, parameters in create:
            simulator.create(count, model, **parameters)
        simulator.setup_done()
        simulator.step(0, {} if inputs is None else {"device_0": inputs}, 10)
        return None
    except Exception as error:  # the text is the test's to judge
        return str(error)
    finally:
        simulator.finalize()


PV = [("PV", 1, {})]
print(
    json.dumps(
        {
            "url and flags": session(PV, init={"flags": {}}),
            "mode": session(PV, init={"mode": "event-based"}),
            "short step": session(PV, init={"time_resolution": 0.0001, "step_size": 9}),
            "no battery": session([("Battery", 1, {})]),
            "twice": session([("PV", 1, {"device": 1}), ("Device", 1, {"device": 1})]),
            "too many": session([("PV", 9, {})]),
            "none": session([]),
            "wiring": session(PV, init={"map": [PLACE]}),
            "not in the map": session([("PV", 2, {})], init={"map": [{**PLACE, "phases": "abc"}]}),
            "two sources": session(PV, {"v_pu": {"grid.a": 1.0, "grid.b": 1.01}}),
            "two attributes": session(PV, {"v_pu": {"grid.a": 1.0}, "v_a_pu": {"grid.a": 1.0}}),
            "two set-points": session(PV, {"p_set_w": {"one.a": 1.0, "other.a": 2.0}}),
            "nothing": session(PV, {"v_pu": {"grid.a": float("nan")}, "p_set_w": {"one.a": 2000}, "q_set_var": {"one.a": None}}),
        }
    )
)
