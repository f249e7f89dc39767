import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { HeadEnd, lfdiOf } from '../csip/head-end/head-end.ts';
import type { Control, Modes } from '../csip/head-end/model.ts';
import { headEndPki } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith } from './support/peers.ts';
import { ForeignClient } from './support/py20305-client.ts';
import { Stream } from './support/stream.ts';

const wMaxW = 10_000;
const everyS = 3;

/** The client py20305 stands between our head-end and our Modbus port: both are judged by it. */
interface Rig {
  readonly simulator: RunningSimulator;
  readonly headEnd: HeadEnd;
  readonly client: ForeignClient;
  readonly lfdi: string;
}

/** @param schedule what the head-end has from the first request of the client on, whose start takes any time */
async function open(flags: readonly string[], schedule: (headEnd: HeadEnd) => void): Promise<Rig> {
  const pki = await headEndPki();
  const lfdi = lfdiOf(new X509Certificate(pki.device.cert).raw);
  const simulator = await startSimulator(['--tick', '0.1', ...flags]);
  const headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca: pki.root.cert }, nowMs: Date.now });
  Object.assign(headEnd.rates, { endDevicePost: 1, mirrorPost: 1 });
  headEnd.register(lfdi, { pin: 111_115 });
  const client = new ForeignClient({ pki, serverUrl: headEnd.origin, lfdi, modbusPort: simulator.modbusPort });
  await headEnd.request('GET', '/dcap');
  schedule(headEnd);
  return { simulator, headEnd, client, lfdi };
}

async function close({ simulator, headEnd, client }: Rig): Promise<void> {
  await client.stop();
  await headEnd.close();
  expect(await simulator.stop()).to.equal(0);
}

/** The points of a model, once the client has answered that a control has started. */
async function whenStarted({ simulator, headEnd }: Rig, { mRID }: Control, model: number): Promise<Json> {
  await headEnd.response(mRID, 2);
  const { json } = await ask(simulator.httpPort, `/api/sim/registers/${model}`);
  return Object.fromEntries(json.points.map((point: Json) => [point.name, point.value]));
}

describeWith(['py20305'], 'another client of IEEE 2030.5 between the head-end of the tests and a device', () => {
  let rig: Rig;
  let headEnd: HeadEnd;
  let stream: Stream;
  const controls = new Map<string, Control>();

  before(async () => {
    rig = await open([], (opened) => {
      headEnd = opened;
      schedule();
    });
    stream = await Stream.open(rig.simulator.httpPort);
  });
  after(async () => {
    await stream.close();
    await close(rig);
  });

  /** All controls one after another, so that the first walk sees all of them. */
  function schedule(): void {
    const program = headEnd.program({ primacy: 5, default: {} });
    const curve = (curveType: number, yRefType: number, ...points: readonly (readonly [x: number, y: number])[]) =>
      headEnd.curve(program, {
        curveType,
        yRefType,
        xMultiplier: 0,
        yMultiplier: 0,
        openLoopTms: 50,
        points: points.map(([x, y]) => ({ x, y })),
      });
    const rows: readonly (readonly [string, Modes])[] = [
      ['limit', { opModMaxLimW: 4000 }],
      ['volt-var', { opModVoltVar: curve(11, 2, [92, 30], [98, 0], [102, 0], [108, -30]) }],
      ['volt-watt', { opModVoltWatt: curve(12, 1, [104, 100], [110, 20]) }],
      ['watt-var', { opModWattVar: curve(14, 2, [-50, 20], [0, 0], [50, 0], [100, -30]) }],
      ['droop', { opModFreqDroop: { dBOF: 100, dBUF: 120, kOF: 40, kUF: 45, openLoopTms: 200 } }],
      ['power factor', { opModFixedPFInjectW: { displacement: 900, excitation: false, multiplier: -3 } }],
      ['generation', { opModGenLimW: { multiplier: 2, value: 45 } }],
    ];
    rows.forEach(([name, modes], index) => {
      const inS = 5 + index * everyS;
      controls.set(name, headEnd.control(program, { modes, inS, durationS: everyS }));
    });
  }

  const started = (name: string, model: number): Promise<Json> => {
    const control = controls.get(name);
    if (control === undefined) throw new Error(name);
    return whenStarted(rig, control, model);
  };
  const power = (what: string, kw: number) =>
    stream.until(what, 10, ({ metrics }) => Math.abs(metrics.power_kw - kw) < 0.05 || undefined);

  it('finds its EndDevice and reports capability, settings, status, availability and readings', async () => {
    for (const [path, root] of [
      ['dercap', 'DERCapability'],
      ['derg', 'DERSettings'],
      ['ders', 'DERStatus'],
      ['dera', 'DERAvailability'],
    ] as const) {
      expect((await headEnd.request('PUT', `/edev/1/der/1/${path}`)).root, rig.client.output).to.equal(root);
    }
    const { deviceLfdi, roleFlags } = await headEnd.until(() => headEnd.mirrors[0]);
    expect([deviceLfdi, Number.parseInt(roleFlags, 16)]).to.deep.equal([rig.lfdi, 0x49]);
    const watts = await headEnd.until(() => headEnd.readings.find(({ type }) => type['uom'] === 38));
    expect(Math.abs(watts.value) * 10 ** (watts.type['powerOfTenMultiplier'] ?? 0)).to.be.within(1000, wMaxW);
  });

  it('limits the power through 704', async () => {
    expect(await started('limit', 704)).to.include({ WMaxLimPctEna: 1, WMaxLimPct: 40 });
    await power('40 %', 4);
  });

  it('adopts curves and a droop from stored set 2', async () => {
    for (const [name, model, points] of [
      ['volt-var', 705, { 'Crv[0].Pt[0].V': 92, 'Crv[0].Pt[0].Var': 30, 'Crv[0].ActPt': 4, 'Crv[1].Pt[3].Var': -30 }],
      ['volt-watt', 706, { 'Crv[0].Pt[1].V': 110, 'Crv[0].Pt[1].W': 20, 'Crv[1].Pt[1].W': 20 }],
      ['watt-var', 712, { 'Crv[0].Pt[3].W': 100, 'Crv[0].Pt[3].Var': -30, 'Crv[1].Pt[3].Var': -30 }],
    ] as const) {
      const found = await started(name, model);
      expect(found, name).to.include({ Ena: 1, AdptCrvReq: 2, AdptCrvRslt: 1, ...points });
    }
    expect(await started('droop', 711)).to.include({
      Ena: 1,
      AdptCtlReq: 2,
      AdptCtlRslt: 1,
      'Ctl[0].DbOf': 0.1,
      'Ctl[0].DbUf': 0.12,
      'Ctl[0].KOf': 0.04,
      'Ctl[0].KUf': 0.045,
      'Ctl[0].RspTms': 2,
    });
  });

  it('sets a power factor, and the limit of generation in percent', async () => {
    expect(await started('power factor', 704)).to.include({ PFWInjEna: 1, 'PFWInj.PF': 0.9 });
    expect(await started('generation', 704)).to.include({ WMaxLimPctEna: 1, WMaxLimPct: 45 });
    await power('4.5 kW', 4.5);
  });

  it('answers each control with received, started and completed', async () => {
    await headEnd.response(controls.get('generation')?.mRID ?? '', 3);
    for (const [name, { mRID }] of controls) expect(headEnd.statuses(mRID, rig.lfdi), name).to.deep.equal([1, 2, 3]);
  });
});

describeWith(['py20305'], 'another client of IEEE 2030.5 between the head-end of the tests and a battery', () => {
  it('writes the limit of charging to 702', async () => {
    const controls: Control[] = [];
    const rig = await open(['-d', 'Batt-3Phase'], (headEnd) => {
      const program = headEnd.program({ primacy: 5, default: {} });
      const modes = { opModLoadLimW: { multiplier: 0, value: 3000 } };
      controls.push(headEnd.control(program, { modes, durationS: 3600 }));
    });
    try {
      for (const control of controls) expect(await whenStarted(rig, control, 702)).to.include({ WChaRteMax: 3000 });
    } finally {
      await close(rig);
    }
  });
});
