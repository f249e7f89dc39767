import { expect } from 'chai';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import {
  bitsFault,
  dynamicScaleFault,
  falsifyFault,
  freezeFault,
  lagFault,
  noiseFault,
  notImplementedFault,
  scaleFault,
  strictPointsFault,
  valueFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import { readingEffect } from '../../../src/sunspec/faults/reading.ts';
import type { FaultExtras } from '../../support/faults.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { codeOf, errorOf, words } from '../../support/map.ts';

const at = (...points: string[]): FaultExtras => ({ target: { points } });

describe('faults in what a read shows', () => {
  let rig: FaultyMapRig;
  beforeEach(() => {
    rig = new FaultyMapRig();
  });
  afterEach(() => {
    rig.end();
  });

  /** Fails unless exactly these points are shown in another way than they are. */
  function expectChanged(...points: readonly string[]): void {
    const { layout } = rig.map;
    const [truth, shown] = [rig.map.dump(), rig.all()];
    const differs = layout.slots.filter(({ address, def }) => {
      const [from, to] = [2 * (address - layout.base), 2 * (address - layout.base + def.size)];
      return !truth.subarray(from, to).equals(shown.subarray(from, to));
    });
    expect(differs.map(({ modelId, path }) => `${modelId}.${path}`)).to.have.members([...points]);
  }

  it('has one effect for all devices of a shape, but for what each keeps of its own', () => {
    const context = { deviceIndex: 0, bank: rig.map.bank, now: () => rig.map.clock.sim() };
    const effects = (kind: FaultKind, parameters: Record<string, unknown> = {}) => {
      const fault = rig.bench.inject(kind, parameters, kind === falsifyFault ? {} : at('701'));
      return [readingEffect(fault, context), readingEffect(fault, { ...context, deviceIndex: 1 })];
    };
    for (const [kind, parameters] of [
      [notImplementedFault, {}],
      [valueFault, { value: 1 }],
      [scaleFault, { factor: 2 }],
      [bitsFault, { set: [0] }],
      [falsifyFault, { switch: 'MeasZeroP' }],
      [strictPointsFault, {}],
    ] as const) {
      const [one, other] = effects(kind, parameters);
      expect(one, kind.kind).to.be.an('object').that.equals(other);
    }
    for (const [kind, parameters] of [
      [freezeFault, {}],
      [lagFault, { delay_s: 5 }],
    ] as const) {
      const [one, other] = effects(kind, parameters);
      expect(one, kind.kind).to.not.equal(other);
      expect(one?.slots, kind.kind).to.equal(other?.slots);
    }
  });

  describe('freeze', () => {
    it('shows the values of the moment at which it began', () => {
      rig.inject(freezeFault, {}, at('701'));
      rig.tick(1, ({ m701 }) => {
        Object.assign(m701, { W: 1000, Hz: 59 });
      });
      expect([rig.shown('701.W'), rig.shown('701.Hz')]).to.deep.equal([48_000, 60.012]);
      expectChanged('701.W', '701.Hz');
    });

    it('lets the exceptions go on', () => {
      rig.inject(freezeFault, { except: ['701.Hz', '715'] });
      rig.tick(1, ({ m701, m715 }) => {
        Object.assign(m701, { W: 1000, Hz: 59 });
        m715.DERHb = 77;
      });
      expect([rig.shown('701.W'), rig.shown('701.Hz'), rig.shown('715.DERHb')]).to.deep.equal([48_000, 59, 77]);
    });

    it('keeps its values while other faults come and go', () => {
      rig.inject(freezeFault, {}, at('701.W'));
      rig.tick(1, ({ m701 }) => {
        m701.W = 1000;
      });
      const other = rig.inject(scaleFault, { factor: 2 }, at('701.Hz'));
      expect(rig.shown('701.W')).to.equal(48_000);
      rig.bench.registry.clear({ id: other.facts.id });
      expect(rig.shown('701.W')).to.equal(48_000);
    });

    it('hides what is written, and the write lands', () => {
      rig.inject(freezeFault, {}, at('704'));
      rig.write(rig.slot('704.WMaxLimPct').address, words(500));
      expect(rig.shown('704.WMaxLimPct')).to.equal(100);
      expect(rig.map.value('704.WMaxLimPct')).to.equal(50);
    });
  });

  describe('not_implemented', () => {
    const rows = [
      ['701.W', '8000'],
      ['701.LLV', 'ffff'],
      ['701.InvSt', 'ffff'],
      ['701.Hz', 'ffffffff'],
      ['701.Alrm', 'ffffffff'],
      ['714.DCW', '8000'],
      ['701.TotWhInj', 'ffffffffffffffff'],
      ['1.Md', '00'.repeat(32)],
      ['701.W_SF', '8000'],
    ] as const;
    for (const [name, hex] of rows) {
      it(`shows ${name} as ${hex.slice(0, 16)}`, () => {
        rig.inject(notImplementedFault, {}, at(name));
        expect(rig.hex(name)).to.equal(hex);
        expectChanged(name);
      });
    }

    it('of a whole model leaves what the others are read by', () => {
      rig.inject(notImplementedFault, {}, at('705'));
      expect(rig.hex('705.ID') + rig.hex('705.NPt') + rig.hex('705.NCrv') + rig.hex('705.V_SF')).to.equal(
        '02c1000a0003fffe',
      );
      expect(rig.hex('705.Crv[1].Pt[0].V')).to.equal('ffff');
      expect(rig.hex('705.Ena')).to.equal('ffff');
    });

    it('takes the points of a register span whole', () => {
      const { address } = rig.slot('701.Hz');
      rig.inject(notImplementedFault, {}, { target: { registers: { address: address + 1, count: 1 } } });
      expectChanged('701.Hz');
      expect(rig.read(address, 1).toString('hex')).to.equal('ffff');
    });
  });

  describe('value', () => {
    const rows: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
      ['701.W', { value: -20_000 }, 'f830'],
      ['701.W', { value: 1e9 }, '7fff'],
      ['701.W', { extreme: 'min' }, '8001'],
      ['701.W', { extreme: 'max' }, '7fff'],
      ['701.W', { extreme: 'zero' }, '0000'],
      ['701.LLV', { value: -5 }, '0000'],
      ['701.LLV', { extreme: 'max' }, 'fffe'],
      ['701.W', { raw: [0x8000] }, '8000'],
      ['701.Hz', { value: 50 }, '0000c350'],
      ['701.Hz', { raw: [1, 2] }, '00010002'],
      ['701.InvSt', { value: 'FAULT' }, '0006'],
      ['701.InvSt', { value: 6 }, '0006'],
      ['701.InvSt', { raw: [99] }, '0063'],
      ['701.Alrm', { value: 5 }, '00000005'],
      ['701.TotWhInj', { extreme: 'zero' }, '0000000000000000'],
      ['1.Vr', { value: 'v9' }, `7639${'00'.repeat(14)}`],
      ['701.ID', { value: 702 }, '02be'],
      ['701.TmpSnk', { value: 40 }, '0190'],
    ];
    for (const [name, parameters, hex] of rows) {
      it(`${name} with ${JSON.stringify(parameters)} is ${hex.slice(0, 16)}`, () => {
        rig.inject(valueFault, parameters, at(name));
        expect(rig.hex(name)).to.equal(hex);
      });
    }

    it('of a whole group is for its quantities alone', () => {
      rig.inject(valueFault, { value: 1 }, at('714.Prt[1]'));
      expect([rig.shown('714.Prt[1].DCV'), rig.shown('714.Prt[1].DCA')]).to.deep.equal([1, 1]);
      expect(rig.hex('714.Prt[1].DCSta')).to.equal('0000');
      expect(rig.shown('714.Prt[0].DCV')).to.equal(750);
    });
  });

  describe('scale', () => {
    it('multiplies and moves', () => {
      rig.inject(scaleFault, { factor: -0.5, offset: 1000 }, at('701.W', '701.Var'));
      expect([rig.shown('701.W'), rig.shown('701.Var')]).to.deep.equal([-23_000, -6000]);
      expectChanged('701.W', '701.Var');
    });

    it('keeps values within their types and leaves what is not implemented', () => {
      rig.map.bank.measurements.m701.TmpCab = null;
      rig.inject(scaleFault, { factor: 1e6 }, at('701'));
      expect([rig.hex('701.W'), rig.hex('701.LLV'), rig.hex('701.Hz')]).to.deep.equal(['7fff', 'fffe', 'fffffffe']);
      expect([rig.hex('701.TmpCab'), rig.hex('701.InvSt'), rig.hex('701.W_SF')]).to.deep.equal([
        '8000',
        '0003',
        '0001',
      ]);
    });

    it('acts in the order of injection', () => {
      rig.inject(scaleFault, { factor: 2 }, at('701.Hz'));
      rig.inject(scaleFault, { offset: 1 }, at('701.Hz'));
      expect(rig.shown('701.Hz')).to.equal(121.024);
      rig.bench.registry.clear();
      rig.inject(scaleFault, { offset: 1 }, at('701.Hz'));
      rig.inject(scaleFault, { factor: 2 }, at('701.Hz'));
      expect(rig.shown('701.Hz')).to.equal(122.024);
    });
  });

  describe('noise', () => {
    const look = (of = rig) => ['701.W', '701.Var', '701.Hz'].map((name) => of.shown(name) ?? NaN);

    it('stays within its amplitude, is new with each tick and the same within one', () => {
      rig.inject(noiseFault, { amplitude: 500 }, at('701.W', '701.Var'));
      const seen = new Set<number>();
      for (let i = 0; i < 50; i += 1) {
        const first = look();
        expect(look()).to.deep.equal(first);
        expect(first[0]).to.be.within(47_500, 48_500);
        expect(first[1]).to.be.within(13_500, 14_500);
        expect(first[2]).to.equal(60.012);
        seen.add(first[0]!);
        rig.tick();
      }
      expect(seen.size).to.be.greaterThan(20);
    });

    it('is the same with the same seed, whatever is read in between', () => {
      const other = new FaultyMapRig();
      for (const each of [rig, other]) each.inject(noiseFault, { amplitude: 5000 }, { ...at('701'), seed: 11 });
      const series = [rig, other].map((each) =>
        Array.from({ length: 5 }, (_, i) => {
          if (each === other) for (let n = 0; n <= i; n += 1) each.shown('701.PF');
          each.tick();
          return look(each);
        }),
      );
      expect(series[0]).to.deep.equal(series[1]);
      const third = new FaultyMapRig();
      third.inject(noiseFault, { amplitude: 5000 }, { ...at('701'), seed: 12 });
      third.tick();
      expect(look(third)).to.not.deep.equal(series[0]?.[0]);
    });
  });

  describe('lag', () => {
    const watts = (value: number) => {
      rig.tick(1, ({ m701 }) => {
        m701.W = value;
      });
    };

    it('shows the values of so long ago', () => {
      rig.inject(lagFault, { delay_s: 3 }, at('701.W'));
      const seen = [10_000, 20_000, 30_000, 40_000, 50_000, 60_000].map((value) => {
        watts(value);
        return rig.shown('701.W');
      });
      expect(seen).to.deep.equal([48_000, 48_000, 48_000, 10_000, 20_000, 30_000]);
    });

    it('ends at once', () => {
      rig.inject(lagFault, { delay_s: 3 }, at('701.W'));
      watts(10_000);
      rig.bench.registry.clear();
      expect(rig.shown('701.W')).to.equal(10_000);
      expect(rig.listening).to.equal(0);
    });

    it('is right to a part in 256 of its delay, however short the ticks', () => {
      rig.inject(lagFault, { delay_s: 256 }, at('701.W'));
      for (let t = 1; t <= 2000; t += 1) {
        rig.tick(0.25, ({ m701 }) => {
          m701.W = 10 * t;
        });
        if (t > 1030) expect(rig.shown('701.W')).to.be.within(10 * (t - 1024 - 4), 10 * (t - 1024));
      }
    });
  });

  describe('bits', () => {
    it('sets and clears, by name or number', () => {
      rig.map.bank.measurements.m701.Alrm = 0b110;
      rig.inject(bitsFault, { set: ['OVER_TEMP', 0], clear: [1] }, at('701.Alrm'));
      expect(rig.hex('701.Alrm')).to.equal('00000085');
    });

    it('shows bits where the field is not implemented', () => {
      rig.map.bank.measurements.m701.Alrm = null;
      const clearing = rig.inject(bitsFault, { clear: [3] }, at('701.Alrm'));
      expect(rig.hex('701.Alrm')).to.equal('ffffffff');
      rig.bench.registry.clear({ id: clearing.facts.id });
      rig.inject(bitsFault, { set: [30] }, at('701.Alrm'));
      expect(rig.hex('701.Alrm')).to.equal('40000000');
    });
  });

  describe('dynamic_scale', () => {
    const inject = (...steps: readonly { above_pct?: number; shift: number }[]) =>
      rig.inject(dynamicScaleFault, { scale_factor: '701.W_SF', steps });
    const look = () => [rig.hex('701.W_SF'), rig.hex('701.W'), rig.hex('701.WL1')];

    it('moves the factor and all that uses it by the power of the device', () => {
      inject({ above_pct: 0, shift: 0 }, { above_pct: 20, shift: 1 }, { above_pct: 60, shift: 2 });
      expect(look()).to.deep.equal(['0002', '01e0', '00a0']);
      rig.map.bank.measurements.m701.W = 70_000;
      expect(look()).to.deep.equal(['0003', '0046', '0010']);
      rig.map.bank.measurements.m701.W = -70_000;
      expect(look()).to.deep.equal(['0003', 'ffba', '0010']);
      rig.map.bank.measurements.m701.W = 1230;
      expect(look()).to.deep.equal(['0001', '007b', '0640']);
    });

    it('counts by the last step whose power is reached, and below all of them leaves things alone', () => {
      inject({ above_pct: 60, shift: 2 });
      expectChanged();
    });

    it('moves down only as far as all values fit', () => {
      inject({ shift: -3 });
      expect(look()).to.deep.equal(['0001', '12c0', '0640']);
      rig.map.bank.measurements.m701.W = 20_000;
      expect(look()).to.deep.equal(['0000', '4e20', '3e80']);
    });

    it('acts on what other faults leave, whichever came first', () => {
      inject({ shift: 1 });
      rig.inject(scaleFault, { factor: 0.5 }, at('701.W'));
      rig.inject(notImplementedFault, {}, at('701.WL1'));
      expect(look()).to.deep.equal(['0002', '00f0', '8000']);
    });
  });

  describe('strict_points', () => {
    beforeEach(() => {
      rig.inject(strictPointsFault);
    });

    it('refuses a read of a part of a point, from either side', () => {
      const { address } = rig.slot('701.TotWhInj');
      for (const [from, count] of [
        [address, 1],
        [address, 3],
        [address + 1, 3],
        [address + 2, 1],
        [address - 4, 5],
        [address + 3, 4],
      ] as const) {
        expect(
          codeOf(() => rig.read(from, count)),
          `${from - address}, ${count}`,
        ).to.equal('MAP_PARTIAL_POINT');
      }
      expect(errorOf(() => rig.read(address, 1)).message).to.contain('701.TotWhInj has 4 registers');
    });

    it('serves whole points and runs of them', () => {
      const { address } = rig.slot('701.TotWhInj');
      expect(rig.read(address, 4).readBigUInt64BE(0)).to.equal(123_456_789n);
      expect(rig.read(address - 2, 6).toString('hex')).to.equal('0000ea6c00000000075bcd15');
      expect(rig.all().equals(rig.map.dump())).to.equal(true);
    });
  });

  describe('occasions', () => {
    it('are requests that touch the points, each once', () => {
      const fault = rig.inject(scaleFault, { factor: 2 }, at('701.W', '701.Var', '701.Hz'));
      rig.all();
      rig.shown('701.W');
      rig.shown('701.A');
      expect([fault.occasions, fault.strikeCount]).to.deep.equal([2, 2]);
    });

    it('end the fault by count, and nothing of it stays', () => {
      rig.inject(scaleFault, { factor: 2 }, { ...at('701.W'), count: 2 });
      expect([rig.shown('701.W'), rig.shown('701.W'), rig.shown('701.W')]).to.deep.equal([96_000, 96_000, 48_000]);
      expect(rig.access).to.equal(null);
      expect(rig.listening).to.equal(0);
    });

    it('strike each n-th time', () => {
      rig.inject(valueFault, { extreme: 'zero' }, { ...at('701.W'), every: 3 });
      expect(Array.from({ length: 6 }, () => rig.shown('701.W'))).to.deep.equal([48_000, 48_000, 0, 48_000, 48_000, 0]);
    });

    it('strike by chance as the seed has it', () => {
      const series = [rig, new FaultyMapRig()].map((each) => {
        each.inject(valueFault, { extreme: 'zero' }, { ...at('701.W'), probability: 0.5, seed: 3 });
        return Array.from({ length: 40 }, () => each.shown('701.W'));
      });
      expect(series[0]).to.deep.equal(series[1]);
      expect(new Set(series[0]).size).to.equal(2);
    });

    it('pass with the duration of the fault', () => {
      rig.inject(valueFault, { extreme: 'zero' }, { ...at('701.W'), durationS: 2 });
      rig.tick(1.5);
      expect(rig.shown('701.W')).to.equal(0);
      rig.tick(0.5);
      expect(rig.shown('701.W')).to.equal(48_000);
    });
  });

  it('leaves a device alone that no fault is for', () => {
    expect(rig.access).to.equal(null);
    expect(rig.listening).to.equal(0);
    rig.inject(strictPointsFault);
    expect(rig.access).to.not.equal(null);
    rig.bench.registry.clear();
    expect(rig.access).to.equal(null);
  });
});
