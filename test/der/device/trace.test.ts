import { expect } from 'chai';
import { secondsBetween } from '../../../src/core/time/clock.ts';
import type { ActiveDecider, ReactiveDecider } from '../../../src/contract/grid-trace.ts';
import { tracedFunctions } from '../../../src/sunspec/map/grid-support/functions.ts';
import { Rig } from '../../support/rig.ts';
import { IdealRig, ratedW, useCurve } from '../inverter/ideal-rig.ts';

const none = { input: null, target: null, output: null };
const rowOf = (rig: IdealRig) => rig.device.trace.now;

describe('Trace: what decides active power', () => {
  const cases: readonly (readonly [ActiveDecider, () => IdealRig, (rig: IdealRig) => void])[] = [
    ['source', () => new IdealRig({ givesW: 6000 }), () => undefined],
    [
      'w_max',
      () => new IdealRig(),
      (rig) => {
        rig.set((tx) => {
          tx.m702.WMax = 8000;
        });
      },
    ],
    [
      'max_power',
      () => new IdealRig(),
      (rig) => {
        rig.set((tx) => {
          tx.m704.WMaxLimPctEna = 'ENABLED';
          tx.m704.WMaxLimPct = 50;
        });
      },
    ],
    [
      'active_power',
      () => new IdealRig(),
      (rig) => {
        rig.demand(3000);
      },
    ],
    [
      'volt_watt',
      () => new IdealRig(),
      (rig) => {
        rig.set((tx) => {
          useCurve(tx, 706, [
            [106, 100],
            [110, 0],
          ]);
        });
        rig.grid({ voltagePu: 1.08 });
      },
    ],
    [
      'freq_droop',
      () => new IdealRig(),
      (rig) => {
        rig.grid({ frequencyHz: 60.5 });
      },
    ],
    [
      'apparent_power',
      () => new IdealRig(),
      (rig) => {
        rig.set((tx) => {
          tx.m702.VAMax = 9000;
        });
      },
    ],
    ['idle', () => IdealRig.store(), () => undefined],
    [
      'charge_limit',
      () => IdealRig.store({ takesW: 2000 }),
      (rig) => {
        rig.demand(-5000);
      },
    ],
    [
      'cessation',
      () => new IdealRig(),
      (rig) => {
        rig.grid({ voltagePu: 1.15 });
      },
    ],
    [
      'out_of_service',
      () => new IdealRig(),
      (rig) => {
        rig.set((tx) => {
          tx.m703.ES = 'DISABLED';
        });
      },
    ],
  ];
  for (const [decider, make, change] of cases) {
    it(decider, async () => {
      const rig = make();
      change(rig);
      await rig.run(10);
      expect(rowOf(rig).activeDecidedBy).to.equal(decider);
      expect(rowOf(rig).activePowerW).to.be.closeTo(rig.w, 0.5);
    });
  }

  it('enter_service and ramp on the way', async () => {
    const rig = new IdealRig();
    rig.set((tx) => {
      Object.assign(tx.m703, { ESDlyTms: 0, ESRmpTms: 100 });
    });
    rig.grid({ frequencyHz: 70, durationS: 1 });
    await rig.run(51);
    expect(rowOf(rig).activeDecidedBy).to.equal('enter_service');
    expect(rowOf(rig).functions.enter_service.output).to.be.closeTo(ratedW / 2, 20);
    await rig.run(60);
    rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
    await rig.run(1);
    expect([rowOf(rig).activeDecidedBy, rowOf(rig).service]).to.deep.equal(['ramp', 'shutting_down']);
  });
});

describe('Trace: what decides reactive power', () => {
  const constant = (rig: IdealRig) => {
    rig.set((tx) => {
      tx.m704.VarSetEna = 'ENABLED';
      tx.m704.VarSetPct = 100;
    });
  };
  const cases: readonly (readonly [ReactiveDecider, () => IdealRig, (rig: IdealRig) => void])[] = [
    ['none', () => new IdealRig(), () => undefined],
    ['constant_var', () => new IdealRig({ givesW: 5000 }), constant],
    [
      'pf_inject',
      () => new IdealRig({ givesW: 5000 }),
      (rig) => {
        rig.set((tx) => {
          tx.m704.PFWInjEna = 'ENABLED';
          tx.m704.PFWInj.PF = 0.95;
        });
      },
    ],
    [
      'volt_var',
      () => new IdealRig({ givesW: 5000 }),
      (rig) => {
        rig.set((tx) => {
          tx.m705.Ena = 'ENABLED';
        });
        rig.grid({ voltagePu: 1.04 });
      },
    ],
    [
      'watt_var',
      () => new IdealRig({ givesW: 8000 }),
      (rig) => {
        rig.set((tx) => {
          tx.m712.Ena = 'ENABLED';
        });
      },
    ],
    ['low_power', () => new IdealRig({ givesW: 1000 }), constant],
    [
      'apparent_power',
      () => new IdealRig(),
      (rig) => {
        constant(rig);
        rig.set((tx) => {
          tx.m702.VAMax = 3000;
        });
      },
    ],
    [
      'cessation',
      () => new IdealRig(),
      (rig) => {
        constant(rig);
        rig.grid({ voltagePu: 1.15 });
      },
    ],
    [
      'out_of_service',
      () => new IdealRig(),
      (rig) => {
        constant(rig);
        rig.set((tx) => {
          tx.m703.ES = 'DISABLED';
        });
      },
    ],
  ];
  for (const [decider, make, change] of cases) {
    it(decider, async () => {
      const rig = make();
      change(rig);
      await rig.run(10);
      expect(rowOf(rig).reactiveDecidedBy).to.equal(decider);
    });
  }
});

describe('Trace: functions, timers and states', () => {
  it('a function that does nothing has no numbers', () => {
    const { functions } = rowOf(new IdealRig());
    expect(Object.keys(functions).sort()).to.deep.equal([...tracedFunctions].sort());
    for (const [name, step] of Object.entries(functions)) {
      expect(step, name).to.deep.equal(name === 'freq_droop' ? { ...none, input: 60 } : none);
    }
  });

  it('input, target and what has become of it in time', async () => {
    const rig = new IdealRig({ givesW: 5000 });
    rig.set((tx) => {
      useCurve(
        tx,
        705,
        [
          [98, 44],
          [100, 0],
          [104, -44],
        ],
        { RspTms: 10 },
      );
    });
    await rig.run(1);
    rig.grid({ voltagePu: 1.02 });
    await rig.run(10);
    const { volt_var: step, watt_var: other } = rowOf(rig).functions;
    expect([step.input, step.target]).to.deep.equal([102, -2200]);
    expect(step.output).to.be.closeTo(-0.9 * 2200, 1);
    expect(other).to.deep.equal(none);
  });

  it('measured values', async () => {
    const rig = new IdealRig();
    rig.grid({ voltageAPu: 0.96, voltageBPu: 1, voltageCPu: 1.01, frequencyHz: 60.01 });
    await rig.run(1);
    const row = rowOf(rig);
    expect(row.lowestVoltagePct).to.be.closeTo(96, 1e-9);
    expect(row.highestVoltagePct).to.be.closeTo(101, 1e-9);
    expect(row.voltagePct).to.be.closeTo(99, 1e-9);
    expect(row).to.include({ frequencyHz: 60.01, service: 'in_service', rideThrough: 'continuous_operation' });
    expect(row.availableW).to.be.closeTo(ratedW, 1e-6);
  });

  it('time to trip counts down to the earliest threshold, and is none on return', async () => {
    const rig = new IdealRig();
    expect(rowOf(rig).timeToTripS).to.deep.equal({
      lv_trip: null,
      hv_trip: null,
      lf_trip: null,
      hf_trip: null,
      anti_islanding: null,
    });
    rig.grid({ voltagePu: 0.45, frequencyHz: 58.4 });
    await rig.run(0.5);
    expect(rowOf(rig).timeToTripS.lv_trip).to.be.closeTo(1.5, 1e-6);
    expect(rowOf(rig).timeToTripS.lf_trip).to.be.closeTo(299.5, 1e-6);
    rig.grid({ voltagePu: 0.6 });
    await rig.run(0.5);
    expect(rowOf(rig).timeToTripS.lv_trip).to.be.closeTo(20, 1e-6);
    rig.grid({ voltagePu: 1, frequencyHz: 60 });
    await rig.run(0.5);
    expect(Object.values(rowOf(rig).timeToTripS)).to.deep.equal(Array(5).fill(null));
  });

  it('transitions carry their instants, whatever the tick, and causes', async () => {
    for (const tickS of [0.1, 1.5, 30]) {
      const rig = new IdealRig();
      rig.set((tx) => {
        Object.assign(tx.m703, { ESDlyTms: 10, ESRmpTms: 5 });
      });
      const { trace } = rig.device;
      await rig.run(tickS);
      const start = trace.now.at;
      rig.grid({ voltagePu: 0.4, durationS: 3 });
      for (let i = 0; i < Math.ceil(30 / tickS); i += 1) await rig.run(tickS);
      const seen = trace.transitions.map(({ at, from, to, cause }) => [
        Math.round(secondsBetween(start, at) * 1e6) / 1e6,
        from,
        to,
        cause,
      ]);
      expect(seen, `${tickS}`).to.deep.equal([
        [0.083, 'in_service', 'momentary_cessation', null],
        [2, 'momentary_cessation', 'tripped', 'lv_trip'],
        [3, 'tripped', 'waiting', null],
        [13, 'waiting', 'ramping', null],
        [18, 'ramping', 'in_service', null],
      ]);
    }
  });

  it('time to enter service runs only while the grid is good', async () => {
    const rig = new IdealRig();
    rig.set((tx) => {
      Object.assign(tx.m703, { ESDlyTms: 10, ESRmpTms: 0 });
    });
    rig.grid({ frequencyHz: 70 });
    await rig.run(1);
    expect(rowOf(rig).timeToEnterServiceS).to.equal(null);
    rig.grid({ frequencyHz: 60 });
    await rig.run(4);
    expect(rowOf(rig).timeToEnterServiceS).to.be.closeTo(6, 1e-6);
    rig.grid({ frequencyHz: 59 });
    await rig.run(1);
    expect(rowOf(rig).timeToEnterServiceS).to.equal(null);
  });

  it('keeps the latest 64 transitions', async () => {
    const rig = new IdealRig();
    for (let i = 0; i < 50; i += 1) {
      rig.set((tx) => {
        tx.m703.ES = i % 2 === 0 ? 'DISABLED' : 'ENABLED';
        Object.assign(tx.m703, { ESDlyTms: 0, ESRmpTms: 0 });
      });
      await rig.run(0.1);
      rig.grid({ voltagePu: i % 2 === 0 ? 1 : 1.15 });
      await rig.run(0.2);
    }
    const { transitions } = rig.device.trace;
    expect(transitions).to.have.length(64);
    const times = transitions.map(({ at }) => at);
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    transitions.slice(1).forEach(({ from }, i) => {
      expect(from).to.equal(transitions[i]!.to);
    });
  });
});

describe('Trace: recorded rows', () => {
  it('nothing is recorded until somebody asks', async () => {
    const rig = new IdealRig();
    await rig.run(5);
    expect([rig.device.trace.capacity, rig.device.trace.rows]).to.deep.equal([0, []]);
  });

  it('a ring of the latest sub-steps, oldest first', async () => {
    const rig = new IdealRig();
    const { trace } = rig.device;
    trace.record(8);
    await rig.run(0.3);
    const early = trace.rows;
    expect(early.length).to.be.within(1, 8);
    for (let i = 0; i < 20; i += 1) await rig.run(0.1);
    expect(trace.rows).to.have.length(8);
    const times = trace.rows.map(({ at }) => at);
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    expect(new Set(times).size).to.equal(8);
    expect(times.at(-1)).to.equal(trace.now.at);
    expect(times[0]).to.be.above(early.at(-1)!.at);
  });

  it('rows follow each other without a gap through an event', async () => {
    const rig = new IdealRig();
    const { trace } = rig.device;
    trace.record(10_000);
    const start = trace.now.at;
    rig.grid({ frequencyHz: 60.5 });
    await rig.run(20);
    const { rows } = trace;
    expect(rows.at(-1)!.at).to.equal(trace.now.at);
    expect(secondsBetween(start, rows.at(-1)!.at)).to.be.closeTo(20, 1e-6);
    const outputs = rows.map(({ functions }) => functions.freq_droop.output!);
    expect(outputs).to.deep.equal([...outputs].sort((a, b) => b - a));
    rows.forEach((row) => {
      expect(row.activePowerW).to.be.closeTo(row.functions.freq_droop.output!, 1e-6);
    });
  });

  it('recording anew begins empty, 0 ends it', async () => {
    const rig = new IdealRig();
    const { trace } = rig.device;
    trace.record(3);
    await rig.run(5);
    trace.record(5);
    expect(trace.rows).to.deep.equal([]);
    await rig.run(10);
    expect(trace.rows).to.have.length(5);
    trace.record(0);
    await rig.run(1);
    expect([trace.rows, trace.capacity]).to.deep.equal([[], 0]);
  });
});

describe('A trip whose cause is gone before the tick ends', () => {
  it('stands in 701.Alrm and among the alarms to the end of that tick', async () => {
    const rig = await Rig.sunny();
    rig.plant.startGridEvent('swell', { level_pu: 1.25, duration_s: 0.5 });
    await rig.run(1.5);
    expect(rig.device.trace.transitions.at(-2)).to.include({ to: 'tripped', cause: 'hv_trip' });
    expect([rig.alarmBits, rig.alarmCodes]).to.deep.equal([[10], ['ac_over_volt']]);
    await rig.run(1.5);
    expect([rig.alarmBits, rig.alarmCodes]).to.deep.equal([[], []]);
  });

  it('a vector shift in the very first sub-step is seen', async () => {
    const rig = new Rig({ inverter: { vectorShiftRelayDeg: 10 } });
    rig.plant.startGridEvent('phase_jump', { deg: 20 });
    await rig.run(1);
    expect(rig.alarmCodes).to.deep.equal(['grid_disconnect']);
  });
});
