"""pandapower as a second opinion on the voltage behind a line: power_flow.py."""

import pandapower as pp

from line_server import serve

RATED_KVA = 100.0
NOMINAL_KV = 0.4


def terminal_voltages(cases):
    """Voltage at the end of a line for each case, per unit: Newton-Raphson from an infinite bus over the line to a bus
    with a generator and a load. All values are per unit of the rated apparent power."""
    net = pp.create_empty_network(sn_mva=RATED_KVA / 1000)
    source, terminals = (pp.create_bus(net, vn_kv=NOMINAL_KV) for _ in range(2))
    pp.create_ext_grid(net, source)
    pp.create_impedance(net, source, terminals, rft_pu=0, xft_pu=0, sn_mva=RATED_KVA / 1000)
    pp.create_sgen(net, terminals, p_mw=0, q_mvar=0)
    pp.create_load(net, terminals, p_mw=0, q_mvar=0)
    return [solved(net, terminals, **case) for case in cases]


def solved(net, terminals, grid, r, x, p, q, load):
    scale = RATED_KVA / 1000
    net.ext_grid.vm_pu = grid
    net.impedance[["rft_pu", "rtf_pu"]] = r
    net.impedance[["xft_pu", "xtf_pu"]] = x
    net.sgen[["p_mw", "q_mvar"]] = p * scale, q * scale
    net.load.p_mw = load * scale
    pp.runpp(net, tolerance_mva=1e-10, numba=False)
    return float(net.res_bus.vm_pu[terminals])


serve({"terminal_voltages": terminal_voltages})
