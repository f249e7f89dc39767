/** A device that goes off and starts again, and the registers that it starts with. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { RegisterBank } from '../../sunspec/map/bank.ts';
import type { ReversionTimers } from '../../sunspec/map/reversion.ts';
import { writeIdentity } from './identity.ts';
import type { DeviceIdentity } from './identity.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { CommandWriters } from './last-writers.ts';
import type { DcSource } from '../source/source.ts';

export interface PowerOptions {
  readonly identity: DeviceIdentity;
  readonly bank: RegisterBank;
  /** start values of the registers */
  readonly image: Buffer;
  readonly inverter: Inverter;
  readonly source: DcSource;
  readonly reversions: ReversionTimers;
  readonly writers: CommandWriters;
  /** indexes of devices that answer nobody */
  readonly silent: Set<number> | undefined;
}

/** Models that show what is measured and what surrounds the device: none of it is remembered, and so none forgotten. */
const shown: readonly number[] = [701, 713, 714, 64413, 64414];

export class Power {
  readonly #options: PowerOptions;
  #down = false;
  /** start of the heartbeat */
  upSince: SimTime;

  constructor(options: PowerOptions, start: SimTime) {
    this.#options = options;
    this.upSince = start;
    writeIdentity(options.bank.measurements, options.identity, options.source.ports);
  }

  /** Off, between going down and coming up. */
  get down(): boolean {
    return this.#down;
  }

  /**
   * Asked before somebody writes to the device.
   * @throws SimError COMMAND_CONFLICT while it is off
   */
  admit(by: Origin): void {
    if (this.#down && by.source !== 'fault') throw new SimError('COMMAND_CONFLICT', 'the device is off: it reboots');
  }

  /** Registers as at the start. */
  loadStart(by: Origin, local: boolean, image = this.#options.image): void {
    const { bank, identity, source } = this.#options;
    bank.reload(image, by);
    writeIdentity(bank.measurements, identity, source.ports);
    bank.measurements.m715.LocRemCtl = local ? 'LOCAL' : 'REMOTE';
  }

  /**
   * Off at once: nothing flows, nobody gets an answer, and timers that run are forgotten.
   * @param forget settings and curves as well
   */
  goDown(forget: boolean, by: Origin, local: boolean): void {
    const { inverter, source, reversions, identity, silent, writers } = this.#options;
    this.#down = true;
    silent?.add(identity.index);
    inverter.halt();
    inverter.phase = 'off';
    source.draw(0, false);
    reversions.clear();
    if (!forget) return;
    this.loadStart(by, local, this.#forgetful());
    inverter.reactivePower.forgetOrder();
    if (inverter.switchClosed) return;
    inverter.switchClosed = true;
    writers.note({ kind: 'switch', closed: true }, by);
  }

  /** Start values, beside what the registers show now. */
  #forgetful(): Buffer {
    const { bank, image } = this.#options;
    const start = Buffer.from(image);
    for (const { address, length } of bank.layout.models.filter(({ def: { id } }) => shown.includes(id))) {
      bank.read(address, length + 2).copy(start, (address - bank.layout.base) * 2);
    }
    return start;
  }

  /** Back through enter service. */
  comeUp(now: SimTime): void {
    this.#down = false;
    this.#options.silent?.delete(this.#options.identity.index);
    this.upSince = now;
  }
}
