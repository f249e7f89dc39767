import { expect } from 'chai';
import { HoldBook } from '../../../src/api/holds/book.ts';
import { keptList, keptParts } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { Device } from '../../../src/contract/device.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { throughFile } from '../../support/continuation.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { byModbus, named } from '../../support/map.ts';
import type { TestPlantOptions } from '../../support/plant.ts';

const byRest = { source: 'rest', peer: 'client' } as const;
const start = Date.UTC(2026, 5, 21, 12);

/** A plant with the holds of REST. */
class Process extends FaultyRig {
  readonly book: HoldBook;

  constructor(options: TestPlantOptions = {}) {
    super({ types: ['PV-3Phase', 'PV-3Phase'], ...options });
    this.book = new HoldBook(this.plant);
  }

  kept(): Kept {
    const { faults, plant, book } = this;
    const devices = keptList(plant.devices.map((device) => device.kept()));
    return keptParts({ faults: faults.kept(), plant: plant.kept(devices), holds: book.kept() });
  }

  begin(id: string, pct: number, seconds: number, device: Device = this.device): void {
    const values = [{ slot: named(device.bank.layout, '704.WMaxLimPct'), value: pct }];
    this.book.begin(device, { id, values, lasts: { seconds } }, byRest);
  }

  limit(pct: number): void {
    this.device.bank.assign(byModbus, [{ slot: named(this.device.bank.layout, '704.WMaxLimPct'), value: pct }]);
  }

  /** The limit of the first device, and the holds by id with their state. */
  get now(): readonly unknown[] {
    return [
      this.value('704.WMaxLimPct'),
      ...Array.from(this.book.list().records, ({ id, end, waiting }) => [id, waiting, end?.reason ?? null]),
    ];
  }

  /** The next process with the state of this one, a day later by its configuration. */
  restarted(): Process {
    const next = new Process({ date: '2026-06-22' });
    next.kept().restore(throughFile(this.kept().save()));
    return next;
  }
}

describe('holds of REST over a restart', () => {
  it('end to the instant, and put back what was there before', async () => {
    const first = new Process();
    first.limit(80);
    first.begin('a', 30, 60);
    await first.run(20);
    const second = first.restarted();
    expect([...second.book.list().records]).to.deep.equal([...first.book.list().records]);
    await second.run(39.9);
    expect(second.now).to.deep.equal([30, ['a', false, null]]);
    await second.run(0.1);
    expect(second.now).to.deep.equal([80, ['a', false, 'expired']]);
    const [record] = second.book.list().records;
    expect(record?.end?.at).to.equal(simTimeFromMs(start + 60_000));
  });

  it('of one device hand their bases on as before', async () => {
    const first = new Process();
    first.limit(80);
    first.begin('a', 30, 60);
    first.begin('b', 40, 10);
    const second = first.restarted();
    await second.run(10);
    expect(second.now).to.deep.equal([80, ['a', false, null], ['b', false, 'expired']]);
    second.book.end(second.device, 'a', byRest);
    expect(second.now[0]).to.equal(80);
  });

  it('a value that a master has written in between stays', async () => {
    const first = new Process();
    first.begin('a', 30, 60);
    first.limit(50);
    const second = first.restarted();
    await second.run(60);
    expect(second.now).to.deep.equal([50, ['a', false, 'expired']]);
  });

  it('an end that waits for a device that is off follows its return', async () => {
    const first = new Process();
    first.limit(80);
    first.begin('a', 30, 5);
    first.inject(rebootFault, { off_s: 20, forget: false });
    await first.run(1);
    await first.run(9);
    expect(first.now).to.deep.equal([30, ['a', true, null]]);
    const second = first.restarted();
    expect(second.now).to.deep.equal([30, ['a', true, null]]);
    await second.run(15);
    expect(second.now).to.deep.equal([80, ['a', false, 'expired']]);
  });

  it('ended ones stay listed, those of a device that is no more are dropped', async () => {
    const first = new Process();
    first.begin('a', 30, 5, first.plant.device(1));
    first.begin('b', 30, 1);
    await first.run(2);
    await first.plant.remove(1);
    first.book.kept();
    const second = new Process();
    second.book.kept().restore(throughFile(first.book.kept().save()));
    expect(Array.from(second.book.list().records, ({ id, end }) => [id, end?.reason])).to.deep.equal([
      ['a', 'device_removed'],
      ['b', 'expired'],
    ]);
    const third = new Process({ types: ['PV-3Phase'] });
    const last = new Process();
    last.begin('c', 30, 5, last.plant.device(1));
    third.book.kept().restore(throughFile(last.book.kept().save()));
    expect([...third.book.list().records]).to.deep.equal([]);
  });

  it('a restored hold is not begun a second time', () => {
    const first = new Process();
    first.begin('a', 30, 60);
    const second = first.restarted();
    expect(() => {
      second.begin('a', 30, 60);
    }).to.throw('There is a hold a already');
  });
});
