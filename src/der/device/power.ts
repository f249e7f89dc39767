/** Power-down and restart of a device. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { DarkDevices } from './device-context.ts';
import type { CommandWriters } from './writers.ts';
import type { DeviceRegisters } from './registers.ts';
import type { DcSource } from '../source/source.ts';

export interface PowerOptions {
  readonly index: number;
  readonly registers: DeviceRegisters;
  readonly inverter: Inverter;
  readonly source: DcSource;
  readonly writers: CommandWriters;
  /** absent: not part of a plant */
  readonly dark: DarkDevices | undefined;
}

/** Starts or stops the device as its operator. @throws SimError MAP_* */
export function writeOperatorState(bank: RegisterBank, command: 'start' | 'stop', by: Origin): void {
  bank.transact(by, (tx) => {
    tx.m703.ES = command === 'start' ? 'ENABLED' : 'DISABLED';
    tx.m715.OpCtl = command === 'start' ? 'START' : 'STOP';
  });
}

export class Power {
  readonly #options: PowerOptions;
  #down = false;
  /** start of the heartbeat */
  upSince: SimTime;

  constructor(options: PowerOptions, start: SimTime) {
    this.#options = options;
    this.upSince = start;
  }

  /** True if the device is off. */
  get down(): boolean {
    return this.#down;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    const { index, dark } = this.#options;
    return keptRecord(
      () => ({ down: this.#down, upSince: this.upSince }),
      ({ down, upSince }) => {
        this.#down = down;
        this.upSince = upSince;
        dark?.set(index, down, upSince);
      },
    );
  }

  /** Checks a write to the device. @throws SimError COMMAND_CONFLICT while it is off, except for a fault */
  admit(by: Origin): void {
    if (this.#down && by.source !== 'fault') throw new SimError('COMMAND_CONFLICT', 'the device is off: it reboots');
  }

  /**
   * Switches off at once: no power flows, the device does not answer, reversion timers end.
   * @param forget true: settings and curves return to their start values
   */
  goDown(
    forget: boolean,
    { by, local, now }: { readonly by: Origin; readonly local: boolean; readonly now: SimTime },
  ): void {
    const { index, inverter, source, registers, dark } = this.#options;
    this.#down = true;
    inverter.halt();
    inverter.phase = 'off';
    source.draw(0, false);
    registers.clearReversions();
    if (forget) this.#forget(by, local);
    dark?.set(index, true, now);
  }

  /** Moves the disconnect switch. */
  setSwitch(closed: boolean, by: Origin): void {
    const { inverter, writers } = this.#options;
    inverter.switchClosed = closed;
    writers.recordWriter({ kind: 'switch', closed }, by);
  }

  #forget(by: Origin, local: boolean): void {
    const { inverter, registers, writers } = this.#options;
    const gradientEnds = !registers.gradient.isStart;
    registers.forgetSettings(by, local);
    if (gradientEnds) writers.recordWriter({ kind: 'gradient' }, by);
    inverter.reactivePower.forgetOrder();
    if (!inverter.switchClosed) this.setSwitch(true, by);
  }

  /** Switches on; service returns through enter service. */
  comeUp(instant: SimTime): void {
    this.begin(instant);
    this.reportReturn(instant);
  }

  /** Switches on; the caller calls `reportReturn` when the registers are updated. */
  begin(instant: SimTime): void {
    this.#down = false;
    this.upSince = instant;
  }

  /** Notifies listeners that the device answers again, unless it already did. */
  reportReturn(instant: SimTime): void {
    this.#options.dark?.set(this.#options.index, false, instant);
  }
}
