/** The simulator of mosaik in worlds with lines of their own, and in the example that judges itself. */
import { createConnection } from 'node:net';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import { programCommand } from '../support/process.ts';
import { differenceOf, runExample, runPython } from './support/cosim.ts';
import { CosimRig, maxDifference, powersOf } from './support/cosim-rig.ts';
import type { Row } from './support/cosim-rig.ts';
import { freePorts } from '../support/ports.ts';
import { describeWith } from './support/peers.ts';

const deviceCount = 3;
const until = 60;
/** W or var: 1e-6 of voltage, at which the loop ends, on the slope of the curve */
const trialTolerance = 0.2;

async function printed<T>(script: string, argument = ''): Promise<T> {
  const path = fileURLToPath(new URL(`python/${script}.py`, import.meta.url));
  return JSON.parse(await runPython(path, argument)) as T;
}

interface Result {
  readonly rows: readonly Row[];
  readonly rounds: number;
}

describeWith(['mosaik'], 'a world of mosaik', () => {
  let rig: CosimRig;
  before(async () => {
    rig = await CosimRig.open(deviceCount);
  });
  beforeEach(() => rig.settle());
  after(() => rig.simulator.stop());

  const world = (mode: string): Promise<Result> =>
    printed('mosaik_world', JSON.stringify({ mode, until, count: deviceCount, init: { url: rig.url } }));

  it('runs to its end with the powers of steps without it, twice the same', async () => {
    const { rows, rounds } = await world('time-based');
    expect([rows.length, rounds]).to.deep.equal([until, 0]);
    expect(new Set(rows.map(({ q }) => q[0])).size).to.be.greaterThan(until / 2);
    const replayed = await rig.replay(rows.map(({ v }) => v));
    expect(rows.slice(1).map(powersOf)).to.deep.equal(replayed.slice(0, -1));
    await rig.settle();
    expect((await world('time-based')).rows).to.deep.equal(rows);
    expect(await rig.isAttached()).to.equal(false);
  });

  it('finds voltages and powers of the same instant in a loop, twice the same', async () => {
    const { rows, rounds } = await world('hybrid');
    expect(rows).to.have.length(until);
    expect(rounds).to.be.greaterThan(2 * until);
    // a voltage acts from the instant before on
    const replayed = await rig.replay(rows.slice(1).map(({ v }) => v));
    expect(maxDifference(rows.slice(1), replayed)).to.be.lessThan(trialTolerance);
    await rig.settle();
    expect((await world('hybrid')).rows).to.deep.equal(rows);
    expect(await rig.isAttached()).to.equal(false);
  });

  it('starts a simulator on request, and ends it', async () => {
    const port = await freePorts(1);
    const flags = { command: programCommand, website_port: port, N: deviceCount };
    const options = { mode: 'time-based', until: 2, count: deviceCount, init: { flags } };
    const { rows } = await printed<Result>('mosaik_world', JSON.stringify(options));
    expect(rows).to.have.length(2);
    const [error] = (await once(createConnection(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
  });

  it('gives each device the voltages of the phases at its place', async () => {
    expect(await printed('phase_columns')).to.deep.equal({
      all: { va_pu: [1.01, 1.12, 1.23], vb_pu: [1.11, 1.12, 1.03], vc_pu: [1.21, 1.12, 1.23] },
      one: { va_pu: [0.98, 0.98, 0.98], frequency_hz: [49.9, 49.9, 49.9], angle_deg: [-170, 170, -180] },
      none: {},
    });
  });

  it('refuses what cannot be meant, and says why', async () => {
    const texts = await printed<Record<string, string | null>>('mosaik_refusals', rig.url);
    expect(texts).to.deep.equal({
      'url and flags': 'one of url and flags is required',
      mode: "mode is 'event-based'; allowed: time-based, hybrid",
      'short step': 'a step of 9 x 0.0001 s; allowed: a whole number of steps, 0.001 s or more',
      'no battery': '1 Battery cannot be had; devices that are left: 0 (pv), 1 (pv), 2 (pv)',
      twice: 'Device 1 cannot be had; devices that are left: 0 (pv), 2 (pv)',
      'too many': '9 PV cannot be had; devices that are left: 0 (pv), 1 (pv), 2 (pv)',
      none: 'no entity was created',
      wiring: "the node map is wrong:\n  device 0 has the wiring three, 3 of the phases a, b and c; the map has 'b'",
      'not in the map': 'the map has no place for the devices 1',
      'two sources': 'device_0.v_pu has more than one source: grid.a, grid.b',
      'two attributes': 'device_0.v_a_pu has more than one source: grid.a',
      'two set-points': 'device_0.p_set_w has more than one source: one.a, other.a',
      nothing: null,
    });
    const { json } = await ask(rig.simulator.httpPort, '/api/sim/registers/704?points=WSet,WSetEna,VarSetEna');
    const points = json.points as readonly { symbol?: string; value: number }[];
    expect(points.map(({ symbol, value }) => symbol ?? value)).to.have.members([2000, 'ENABLED', 'DISABLED']);
    expect(await rig.isAttached()).to.equal(false);
  });
});

describeWith(['mosaik', 'pandapower'], 'the example of a world', () => {
  it('has the voltages of DERController, with and without a loop', async () => {
    const table = await runExample('mosaik_scenario');
    expect(differenceOf(table, 'voltage, pu')).to.be.below(1e-6);
    expect(differenceOf(table, 'reactive power')).to.be.below(1);
  });
});
