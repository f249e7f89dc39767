import { expect } from 'chai';
import fc from 'fast-check';
import { FleetError } from '../../../src/fleet/link.ts';
import {
  decodedRecord,
  encodedRecord,
  patchTo,
  reachedAt,
  simOf,
  slotEndMs,
  tickAt,
  tickOf,
} from '../../../src/fleet/clock/record.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import { holds } from '../../support/property.ts';
import { clockRecord } from '../support/clock.ts';

describe('fleet/clock: the record', () => {
  it('is read as it was written', () => {
    const writer = { source: 'rest', peer: 'x', at: clockRecord().sim0Us, wallMs: 5 } as const;
    const record = clockRecord({ changedBy: writer, steppedBy: writer, mode: 'paused' });
    expect(decodedRecord(encodedRecord(record))).to.deep.equal(record);
  });

  const wrong: Readonly<Record<keyof ClockRecord, unknown>> = {
    fleet: '',
    seq: -1,
    term: 0.5,
    mode: 'stopped',
    rate: 0,
    timezone: null,
    tickS: -1,
    tick0: NaN,
    wall0Ms: 'now',
    sim0Us: 0.5,
    startUs: 1e30,
    shiftMs: null,
    madeMs: undefined,
    changedBy: { source: 'rest' },
    steppedBy: { source: 'nobody', at: 0, wallMs: 0 },
  };
  for (const [name, value] of Object.entries(wrong))
    it(`is refused with a wrong ${name}`, () => {
      const bytes = Buffer.from(JSON.stringify({ ...clockRecord(), [name]: value }));
      expect(() => decodedRecord(bytes)).to.throw(FleetError, `"${name}"`);
    });

  it('has slots and instants that belong to its ticks', () => {
    const grids = fc.record({
      tickS: fc.constantFrom(0.1, 0.2, 1, 1.5, 7),
      rate: fc.constantFrom(0.01, 0.3, 1, 60, 3600),
      tick0: fc.nat({ max: 1_000_000 }),
    });
    holds(
      'slots of the common clock',
      [grids, fc.nat({ max: 100_000 })],
      (grid, more) => {
        const record = clockRecord(grid);
        const tick = grid.tick0 + more;
        const endMs = slotEndMs(record, tick);
        expect([tickAt(record, endMs), tickAt(record, endMs - 1)]).to.deep.equal([tick, tick - 1]);
        expect(tickOf(record, simOf(record, tick))).to.equal(tick);
        expect(simOf(record, tick) - record.sim0Us).to.be.closeTo(more * grid.tickS * grid.rate * 1e6, 1);
      },
      { runs: 100 },
    );
  });

  it('tells a new process the tick whose slot has ended, and of a pause its begin', () => {
    const record = clockRecord({ rate: 10, tick0: 7 });
    const afterMs = record.wall0Ms + 2.9 * 1500;
    expect(reachedAt(record, afterMs)).to.deep.equal({ tick: 9, simUs: record.sim0Us + 30e6 });
    expect(reachedAt(record, record.wall0Ms - 5000)).to.deep.equal({ tick: 7, simUs: record.sim0Us });
    expect(reachedAt({ ...record, mode: 'paused' }, afterMs)).to.deep.equal({ tick: 7, simUs: record.sim0Us });
  });

  const present = { mode: 'accelerated', rate: 1, timezone: 'UTC', shiftMs: 0 } as const;
  const patches: readonly (readonly [string, Partial<ClockRecord>, object | null])[] = [
    ['the same settings', {}, null],
    ['a rounding of the shift', { shiftMs: 0.004 }, null],
    ['another rate', { rate: 2 }, { mode: 'accelerated', rate: 2, timezone: 'UTC', shiftMs: 0 }],
    ['another shift', { shiftMs: 60_000 }, { mode: 'accelerated', rate: 1, timezone: 'UTC', shiftMs: 60_000 }],
    ['another zone', { timezone: 'Asia/Tokyo' }, { mode: 'accelerated', rate: 1, timezone: 'Asia/Tokyo', shiftMs: 0 }],
    [
      'the wall clock, which has its own dates',
      { mode: 'wall_clock', shiftMs: 9 },
      { mode: 'wall_clock', timezone: 'UTC' },
    ],
  ];
  for (const [name, over, patch] of patches)
    it(`changes a clock for ${name}`, () => {
      expect(patchTo(clockRecord(over), present)).to.deep.equal(patch);
    });
});
