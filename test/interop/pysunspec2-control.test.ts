import { expect } from 'chai';
import type { Snapshot } from '../../src/contract/snapshot.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { describeWith } from './support/peers.ts';
import { Stream } from './support/stream.ts';
import { lineKinds } from './support/sunspec-line.ts';
import type { SunSpecLine } from './support/sunspec-line.ts';

interface DescribedPoint {
  readonly path: string;
  readonly writable: boolean;
  readonly implemented: boolean;
  readonly symbols: Readonly<Record<string, number>>;
}

/** Legal values of the numeric settings of 704, the last one the start value. */
const legal704: Readonly<Record<string, readonly [number, number, ...number[]]>> = {
  PFWInjRvrtTms: [3600, 0],
  PFWAbsRvrtTms: [3600, 0],
  WMaxLimPct: [0, 60.55, 100],
  WMaxLimPctRvrt: [25.5, 100],
  WMaxLimPctRvrtTms: [86_400, 0],
  WSet: [0, 2500, 10_000],
  WSetRvrt: [2500, 10_000],
  WSetPct: [12.34, 100],
  WSetPctRvrt: [50, 100],
  WSetRvrtTms: [3600, 0],
  VarSet: [-1000, 1000, 0],
  VarSetRvrt: [-1000, 0],
  VarSetPct: [-30.25, 30.25, 0],
  VarSetPctRvrt: [-30.25, 0],
  VarSetRvrtTms: [3600, 0],
  WRmp: [1, 100, 20],
  VarRmp: [1, 100, 20],
  'PFWInj.PF': [0.95, 1],
  'PFWInjRvrt.PF': [0.95, 1],
  'PFWAbs.PF': [0.95, 1],
  'PFWAbsRvrt.PF': [0.95, 1],
};

/** Rules that these tests make the master break. */
const mistakes = [
  'modbus.curve_unordered',
  'modbus.value_out_of_range',
  'modbus.write_read_only',
  'modbus.write_scale_factor',
  'modbus.write_set_in_force',
];

const exceptions = { illegalDataAddress: 2, illegalDataValue: 3 } as const;

/** Metrics that a master reads from registers, in the unit of the register. */
const metricsOf = ({ metrics }: Snapshot) => ({
  W: metrics.power_kw * 1000,
  Var: metrics.reactive_power_kvar * 1000,
  VA: metrics.apparent_power_kva * 1000,
  A: metrics.current_a,
  LNV: metrics.voltage_ln_v,
  Hz: metrics.frequency_hz,
  PF: metrics.power_factor,
});

for (const line of lineKinds)
  describeWith(line.peers, `controls a device over ${line.name}`, () => {
    let opened: SunSpecLine;
    let master: SunSpecLine['master'];
    let httpPort: number;
    let stream: Stream;

    before(async () => {
      opened = await line.open(['--tick', '0.1']);
      ({
        master,
        simulator: { httpPort },
      } = opened);
      stream = await Stream.open(httpPort);
      await master.ask('scan');
    });
    after(async () => {
      await stream.close();
      await opened.stop(mistakes);
    });

    const overview = async (): Promise<Snapshot> => (await ask(httpPort, '/api/sim/overview')).json as Snapshot;
    const read = (model: number): Promise<Record<string, number>> => master.ask('read', { model });
    const readPoint = (model: number, path: string): Promise<number> => master.ask('read_point', { model, path });
    const write = (model: number, values: Readonly<Record<string, number>>) =>
      master.ask('write_model', { model, values });
    const refusal = (model: number, path: string, value: number) =>
      master.exceptionOf('write_point', { model, path, value });

    describe('model 704, every setting', () => {
      let settings: readonly DescribedPoint[];
      const valuesOf = ({ path, symbols }: DescribedPoint): readonly number[] =>
        legal704[path] ?? Object.values(symbols);

      before(async () => {
        const points: DescribedPoint[] = await master.ask('describe', { model: 704 });
        settings = points.filter((point) => point.writable && point.implemented);
      });
      after(() => write(704, { VarSetMod: 1, VarSetPri: 1, WSetMod: 0, WRmpRef: 1 }));

      it('takes legal values point by point and gives them back', async () => {
        expect(settings.length).to.be.greaterThan(30);
        for (const setting of settings) {
          const before = await readPoint(704, setting.path);
          expect(valuesOf(setting), setting.path).to.have.length.of.at.least(2);
          for (const value of [...valuesOf(setting), before]) {
            await master.ask('write_point', { model: 704, path: setting.path, value });
            expect(await readPoint(704, setting.path), setting.path).to.equal(value);
          }
        }
      });

      it('takes them all at once', async () => {
        const before = await read(704);
        const all = (pick: (setting: DescribedPoint) => number) =>
          Object.fromEntries(settings.map((setting) => [setting.path, pick(setting)]));
        const others = all((setting) => valuesOf(setting).find((value) => value !== before[setting.path]) ?? 0);
        for (const values of [others, all(({ path }) => before[path] ?? 0)]) {
          await write(704, values);
          expect(await read(704)).to.deep.include(values);
        }
      });
    });

    describe('active power limit', () => {
      const wMaxW = 10_000;
      const rampPctS = 20;
      const sim = ({ metrics }: Snapshot) => Date.parse(metrics.timestamp);
      const rampS = (fromW: number, toW: number) => Math.abs(fromW - toW) / ((wMaxW * rampPctS) / 100);
      let freeW: number;

      before(async () => {
        expect(await readPoint(702, 'WMax')).to.equal(wMaxW);
        expect(await readPoint(704, 'WRmp')).to.equal(rampPctS);
        freeW = await stream.until('full power', 15, ({ metrics }) =>
          metrics.power_kw > 9 ? metrics.power_kw * 1000 : undefined,
        );
      });
      after(() => write(704, { WMaxLimPctEna: 0, WMaxLimPct: 100, WMaxLimPctRvrtTms: 0 }));

      it('brings 701.W to the limit within the ramp', async () => {
        const begin = sim(await overview());
        await write(704, { WMaxLimPctEna: 1, WMaxLimPct: 50 });
        const end = await stream.until('50 %', 15, (snapshot) =>
          snapshot.metrics.power_kw <= 5 ? sim(snapshot) : undefined,
        );
        // a busy machine merges ticks: each end may be observed late
        expect((end - begin) / 1000).to.be.within(rampS(freeW, 5000) - 0.4, rampS(freeW, 5000) + 1);
        expect(await readPoint(701, 'W')).to.be.within(4950, 5000);
        expect((await overview()).status.inverter_state).to.equal('throttled');
        expect(await readPoint(701, 'ThrotSrc')).to.equal(1);
      });

      it('shows the numbers of one tick on Modbus, at overview and in the stream', async () => {
        await write(704, { WMaxLimPctEna: 1, WMaxLimPct: 80 });
        const seen = new Set<number>();
        await stream.until('8 different powers', 20, async (streamed) => {
          const registers = await read(701);
          const shown = await overview();
          // readings of different ticks cannot be compared
          if (shown.tick !== streamed.tick) return undefined;
          expect(shown.metrics).to.deep.equal(streamed.metrics);
          for (const [name, value] of Object.entries(metricsOf(shown)))
            expect(value, `${name} of tick ${shown.tick}`).to.be.closeTo(registers[name] ?? NaN, 1e-6);
          seen.add(registers['W'] ?? NaN);
          if (seen.size < 8 && shown.metrics.power_kw >= 7.99) await write(704, { WMaxLimPct: 40 });
          if (seen.size < 8 && shown.metrics.power_kw <= 4.01) await write(704, { WMaxLimPct: 80 });
          return seen.size >= 8 || undefined;
        });
      });

      it('reverts by itself after RvrtTms', async () => {
        await write(704, {
          WMaxLimPctEna: 1,
          WMaxLimPct: 50,
          WMaxLimPctRvrt: 100,
          WMaxLimPctEnaRvrt: 0,
          WMaxLimPctRvrtTms: 0,
        });
        await stream.until('50 %', 15, ({ metrics }) => metrics.power_kw <= 5 || undefined);
        const begin = performance.now();
        await write(704, { WMaxLimPctRvrtTms: 5 });
        expect(await readPoint(704, 'WMaxLimPctRvrtRem')).to.be.within(4, 5);
        await stream.until(
          'the end of the limit',
          15,
          async () => (await readPoint(704, 'WMaxLimPctEna')) === 0 || undefined,
        );
        expect((performance.now() - begin) / 1000).to.be.closeTo(5, 2);
        const registers = await read(704);
        expect(registers).to.include({ WMaxLimPct: 100, WMaxLimPctRvrtRem: 0 });
        const back = await stream.until('full power', 15, ({ metrics }) =>
          metrics.power_kw * 1000 > 0.98 * freeW ? metrics.power_kw : undefined,
        );
        expect(back).to.be.greaterThan(9);
      });
    });

    describe('refusals', () => {
      it('are exceptions that leave the registers as they were', async () => {
        const before = await read(704);
        const { illegalDataAddress, illegalDataValue } = exceptions;
        expect(await refusal(701, 'W', 1), 'measurement').to.equal(illegalDataAddress);
        expect(await refusal(702, 'WMaxRtg', 20_000), 'rating').to.equal(illegalDataAddress);
        expect(await refusal(704, 'WMaxLimPctRvrtRem', 1), 'remaining time').to.equal(illegalDataAddress);
        expect(await refusal(704, 'WMaxLimPct_SF', -1), 'scale factor').to.equal(illegalDataAddress);
        expect(await refusal(704, 'PFWAbsEna', 1), 'not implemented').to.equal(illegalDataAddress);
        expect(await refusal(704, 'WMaxLimPct', 100.01), 'above its range').to.equal(illegalDataValue);
        expect(await refusal(704, 'WSet', -1), 'charging without storage').to.equal(illegalDataValue);
        expect(await refusal(704, 'PFWInj.PF', 0.5), 'below its range').to.equal(illegalDataValue);
        expect(await refusal(704, 'VarSetMod', 5), 'no such enumeration value').to.equal(illegalDataValue);
        expect(await refusal(702, 'WMax', 10_001), 'above its rating').to.equal(illegalDataValue);
        expect(await read(704)).to.deep.equal(before);
      });

      it('refuse a request whole: a bad value keeps the good one next to it out', async () => {
        const values = { WMaxLimPctEna: 1, WMaxLimPct: 101 };
        expect(await master.exceptionOf('write_model', { model: 704, values })).to.equal(exceptions.illegalDataValue);
        expect(await read(704)).to.include({ WMaxLimPctEna: 0, WMaxLimPct: 100 });
      });
    });

    describe('curves', () => {
      const curve = (set: number) => ({
        [`Crv[${set}].ActPt`]: 3,
        [`Crv[${set}].DeptRef`]: 1,
        [`Crv[${set}].Pri`]: 0,
        [`Crv[${set}].VRef`]: 99.5,
        [`Crv[${set}].RspTms`]: 7.25,
        [`Crv[${set}].Pt[0].V`]: 95,
        [`Crv[${set}].Pt[0].Var`]: 30.5,
        [`Crv[${set}].Pt[1].V`]: 100.25,
        [`Crv[${set}].Pt[1].Var`]: 0,
        [`Crv[${set}].Pt[2].V`]: 105,
        [`Crv[${set}].Pt[2].Var`]: -30.5,
      });
      const results = { completed: 1, failed: 2 } as const;

      it('staged in set 2 of 705 are adopted into set 1', async () => {
        const first = await read(705);
        await write(705, curve(1));
        const staged = await read(705);
        expect(staged).to.deep.include(curve(1));
        expect(staged['Crv[0].Pt[0].V'], 'set 1 before').to.equal(first['Crv[0].Pt[0].V']);
        await write(705, { AdptCrvReq: 2 });
        const adopted = await read(705);
        expect(adopted).to.deep.include({ ...curve(0), ...curve(1), AdptCrvReq: 2, AdptCrvRslt: results.completed });
        expect(adopted).to.include({ 'Crv[0].ReadOnly': 1, 'Crv[1].ReadOnly': 0 });
      });

      it('that fall back along their axis are not adopted', async () => {
        const before = await read(705);
        await write(705, { ...curve(2), 'Crv[2].Pt[2].V': 90 });
        await write(705, { AdptCrvReq: 3 });
        const after = await read(705);
        expect(after['AdptCrvRslt']).to.equal(results.failed);
        expect(after['Crv[0].Pt[2].V']).to.equal(before['Crv[0].Pt[2].V']);
      });

      it('adopted and enabled set 701.Var, at every voltage of the new curve', async () => {
        const v = [94, 97, 102, 106];
        const share = [40, 10, -10, -35];
        const points = Object.fromEntries(
          v.flatMap((x, i) => [
            [`Crv[1].Pt[${i}].V`, x],
            [`Crv[1].Pt[${i}].Var`, share[i]],
          ]),
        );
        await write(705, {
          'Crv[1].ActPt': 4,
          'Crv[1].DeptRef': 3,
          'Crv[1].Pri': 1,
          'Crv[1].VRef': 100,
          'Crv[1].RspTms': 0.5,
          ...points,
        });
        await write(705, { AdptCrvReq: 2 });
        expect(await readPoint(705, 'AdptCrvRslt')).to.equal(results.completed);
        await write(705, { Ena: 1 });
        const vaMax = await readPoint(702, 'VAMax');
        // corners, between them, and beyond both ends
        const expected = [
          [94, 40],
          [95.5, 25],
          [97, 10],
          [99.5, 0],
          [102, -10],
          [104, -22.5],
          [106, -35],
          [107.5, -35],
          [93, 40],
        ] as const;
        for (const [voltsPct, varPct] of expected) {
          await ask(httpPort, '/api/sim/controls/grid', { method: 'POST', body: { voltage_pu: voltsPct / 100 } });
          const wanted = (vaMax * varPct) / 100;
          await stream.until(
            `${varPct} % at ${voltsPct} %`,
            15,
            async () => Math.abs((await readPoint(701, 'Var')) - wanted) <= 0.001 * vaMax || undefined,
          );
          expect(await readPoint(701, 'LLV')).to.be.closeTo(4.8 * voltsPct, 0.1);
        }
        await write(705, { Ena: 0 });
        await ask(httpPort, '/api/sim/controls/grid', { method: 'POST', body: { voltage_pu: 1 } });
        await stream.until('no reactive power', 15, async () => (await readPoint(701, 'Var')) === 0 || undefined);
      });

      it('take no write in set 1, and no request for a set that is not there', async () => {
        expect(await refusal(705, 'Crv[0].Pt[0].V', 96)).to.equal(exceptions.illegalDataAddress);
        expect(await refusal(705, 'AdptCrvReq', 4)).to.equal(exceptions.illegalDataValue);
      });
    });

    it('functions can be enabled exactly when 702.CtrlModes has them', async () => {
      const points: DescribedPoint[] = await master.ask('describe', { model: 702 });
      const bits = points.find(({ path }) => path === 'CtrlModes')?.symbols ?? {};
      const modes = await readPoint(702, 'CtrlModes');
      const functions = [
        [704, 'WMaxLimPctEna', 'MAX_W'],
        [704, 'WSetEna', 'FIXED_W'],
        [704, 'VarSetEna', 'FIXED_VAR'],
        [704, 'PFWInjEna', 'FIXED_PF'],
        [705, 'Ena', 'VOLT_VAR'],
        [706, 'Ena', 'VOLT_WATT'],
        [711, 'Ena', 'FREQ_WATT'],
        [712, 'Ena', 'WATT_VAR'],
      ] as const;
      for (const [model, path, mode] of functions) {
        const has = Math.floor(modes / 2 ** (bits[mode] ?? NaN)) % 2 === 1;
        expect(await refusal(model, path, 1), `${model}.${path}`).to.equal(has ? 0 : exceptions.illegalDataValue);
        expect(await readPoint(model, path), `${model}.${path}`).to.equal(has ? 1 : 0);
        await master.ask('write_point', { model, path, value: 0 });
      }
    });

    // a suite, since Mocha runs the tests of this one before its inner suites
    describe('findings', () => {
      it('breaks the rules of its wrong writes, and no others', async () => {
        const { json } = await ask(httpPort, '/api/sim/findings?protocol=modbus&severity=risk');
        expect(json.findings.map(({ rule }: Json) => rule)).to.have.members([
          'modbus.curve_unordered',
          'modbus.value_out_of_range',
          'modbus.write_read_only',
          'modbus.write_scale_factor',
          'modbus.write_set_in_force',
        ]);
      });
    });
  });
