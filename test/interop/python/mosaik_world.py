"""A world of mosaik: one line to each device, on a source that swings. Prints what the lines saw at each instant."""

import json
import math
import sys

import mosaik
import mosaik_api_v3
from cosim.deadline import deadline

#: per unit of voltage by W and by var: a curve of 44 % over 6 % makes a loop of a slope of about 0.5
R_PER_W, X_PER_VAR = 2e-6, 6e-6
TOLERANCE_PU = 1e-9


class Lines(mosaik_api_v3.Simulator):
    def __init__(self):
        super().__init__({"models": {"Line": {"public": True, "params": [], "attrs": ["p_w", "q_var", "v_pu"]}}})
        self.meta["extra_methods"] = ["result"]

    def init(self, sid, time_resolution=1.0, looped=False):
        self.looped = looped
        if looped:
            self.meta["type"] = "hybrid"
            self.meta["models"]["Line"].update({"trigger": ["p_w", "q_var"], "non-persistent": ["v_pu"]})
        self.powers, self.voltages, self.rows, self.rounds, self.news = {}, {}, [], 0, True
        return self.meta

    def create(self, num, model):
        self.powers = {f"line{at}": {"p_w": 0.0, "q_var": 0.0} for at in range(num)}
        self.voltages = dict.fromkeys(self.powers, 1.0)
        return [{"eid": eid, "type": model} for eid in self.powers]

    def step(self, time, inputs, max_advance):
        for eid, attributes in inputs.items():
            self.powers[eid].update({name: sum(values.values()) for name, values in attributes.items()})
        source = 1 + 0.035 * math.sin(time / 5)
        powers = list(self.powers.values())
        new = [source + R_PER_W * each["p_w"] + X_PER_VAR * each["q_var"] + 0.002 * at for at, each in enumerate(powers)]
        is_first = time == len(self.rows)
        self.news = is_first or max(abs(a - b) for a, b in zip(new, self.voltages.values())) > TOLERANCE_PU
        if self.news:
            self.voltages = dict(zip(self.powers, new))
        self.rounds += not is_first
        row = {"v": list(self.voltages.values()), "p": [each["p_w"] for each in powers], "q": [each["q_var"] for each in powers]}
        self.rows[time:] = [row]
        return time + 1

    def get_data(self, outputs):
        return {eid: {"v_pu": self.voltages[eid]} for eid in outputs} if self.news or not self.looped else {}

    def result(self):
        return {"rows": self.rows, "rounds": self.rounds}


options = json.loads(sys.argv[1])
looped = options["mode"] == "hybrid"
config = {"lines": {"python": "__main__:Lines"}, "derbench": {"cmd": "%(python)s -m cosim.mosaik_simulator %(addr)s"}}
with deadline(90, "the world"), mosaik.World(config, skip_greetings=True, configure_logging=False) as world:
    with world.group():
        lines = world.start("lines", looped=looped)
        derbench = world.start("derbench", mode=options["mode"], **options["init"])
    back = {"weak": True} if looped else {"time_shifted": True, "initial_data": {"v_pu": 1.0}}
    count = options["count"]
    for line, device in zip(lines.Line.create(count), derbench.PV.create(count)):
        world.connect(device, line, "p_w", "q_var")
        world.connect(line, device, "v_pu", **back)
    world.run(until=options["until"], print_progress=False)
    print(json.dumps(lines.result()))
