"""A script with the habits of those of SVP: two clocks, a timer, parameters that count only sometimes, a summary."""

import datetime as dates
import time
from datetime import datetime

import script
import xlsxwriter
from svpelab import gridsim, pvsim, result


def run(test_script):
    global ts
    ts = test_script
    began, began_s, began_date = datetime.now(), time.time(), dates.datetime.now()
    grid = gridsim.gridsim_init(ts)
    samples = []
    timer = ts.timer_start(2.5, samples.append, arg="sample", repeating=True)
    ts.timer_start(3, lambda _: grid.freq(59.5))
    ts.sleep(5)
    hz_behind_timer = grid.meas_freq()[0]
    ts.timer_cancel(timer)
    time.sleep(3600 - 5)
    elapsed = {
        "now": (datetime.now() - began).total_seconds(),
        "time": time.time() - began_s,
        "module": (dates.datetime.now() - began_date).total_seconds(),
    }
    with open(ts.result_file_path("result_summary.csv"), "a+") as file:
        file.write("FIRST,LAST,STEP\nPass,Pass,Step A\nPass,Fail,Step B\n")
    ts.result_file("result_summary.csv")
    ts.log(f"elapsed {elapsed}, {len(samples)} samples, {hz_behind_timer} Hz, confirmed {ts.confirm('Ready?')}")
    ts.log(f"{ts.params['try.text']} {ts.param_value('try.count')} {ts.param_value('try.hidden')} {ts.param_value('try.shown')}")
    ts.log(f"{ts.param_value('eut.v_nom'):.1f} V, {ts.param_value('eut.phases')}")
    result.result_workbook(xlsxwriter, ts.results_dir(), ts.result_dir())
    if ts.param_value("try.text") == "give up":
        ts.fail("given up")
    ts.result(script.RESULT_COMPLETE)
    raise SystemExit(0)


info = script.ScriptInfo(name="TRY", run=run, version="1.0.0")
info.param_group("try", label="Try")
info.param("try.text", label="Text", default="default")
info.param("try.count", label="Count", default=1)
info.param("try.hidden", label="Hidden", default="counts", active="try.text", active_value=["another"])
info.param("try.shown", label="Shown", default="counts", active="try.text", active_value=["from the file"])
gridsim.params(info)
pvsim.params(info)


def script_info():
    return info
