/** Forced modes of a battery with their duration, and the checks of its commands. */
import { givenAllowed, SimError } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { batteryControlModes } from '../../../contract/kinds/battery.ts';
import type { BatteryCommand, BatteryControlMode } from '../../../contract/kinds/battery.ts';

export type ControlCommand = Extract<BatteryCommand, { kind: 'battery.control' }>;
export type ReserveCommand = Extract<BatteryCommand, { kind: 'battery.reserve' }>;

const roundingS = 1e-9;

/** The mode in force. */
export class ForcedControl {
  mode: BatteryControlMode = 'auto';
  /** requested magnitude, W; null: the rating */
  powerW: number | null = null;
  /** remaining simulated time, s; Infinity: no end */
  remainingS = Infinity;

  release(): void {
    this.mode = 'auto';
    this.powerW = null;
    this.remainingS = Infinity;
  }

  /** Applies a checked command. */
  apply({ mode, powerW, durationS }: ControlCommand): void {
    if (mode === 'auto') {
      this.release();
      return;
    }
    if (mode !== undefined) {
      this.mode = mode;
      this.powerW = null;
      this.remainingS = Infinity;
    }
    if (powerW !== undefined) this.powerW = powerW;
    if (durationS !== undefined) this.remainingS = durationS ?? Infinity;
  }

  /** @returns true if control has just returned to `auto` */
  advance(dtS: number): boolean {
    if (this.mode === 'auto') return false;
    this.remainingS -= dtS;
    if (this.remainingS > roundingS) return false;
    this.release();
    return true;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ mode: this.mode, powerW: this.powerW, remainingS: this.remainingS }),
      ({ mode, powerW, remainingS }) => {
        this.mode = mode;
        this.powerW = powerW;
        this.remainingS = remainingS;
      },
    );
  }
}

const refuse = (issues: readonly Issue[]): never => {
  const text = issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
  throw new SimError('COMMAND_BAD_VALUE', text, issues);
};

/** Values of a command that no mode allows. */
function valueIssues(command: ControlCommand, stringCount: number): readonly Issue[] {
  const { mode, powerW, socPct, durationS, strings } = command;
  const issues: Issue[] = [];
  const bad = (name: string, given: unknown, allowed: string): void => {
    issues.push({ name, detail: givenAllowed(given, allowed) });
  };
  if ([mode, powerW, socPct, durationS, strings].every((member) => member === undefined)) {
    bad('control', undefined, 'at least one of mode, power, state of charge, duration, strings');
  }
  if (mode !== undefined && !batteryControlModes.includes(mode)) bad('mode', mode, batteryControlModes.join(', '));
  if (powerW !== undefined && powerW !== null && !(powerW >= 0 && Number.isFinite(powerW))) {
    bad('power', powerW, 'a number of watts from 0 up, or null for the rating');
  }
  if (socPct !== undefined && !(socPct >= 0 && socPct <= 100))
    bad('state of charge', socPct, 'a number from 0 to 100 %');
  if (durationS !== undefined && durationS !== null && !(durationS > 0 && Number.isFinite(durationS))) {
    bad('duration', durationS, 'a number of seconds above 0, or null for no end');
  }
  checkStrings(strings ?? [], stringCount, bad);
  return issues;
}

/**
 * @throws SimError COMMAND_BAD_VALUE or COMMAND_CONFLICT for a command that `ForcedControl.apply` cannot apply in full
 */
export function checkControl(command: ControlCommand, currentMode: BatteryControlMode, stringCount: number): void {
  const issues = valueIssues(command, stringCount);
  if (issues.length > 0) refuse(issues);
  const { mode, powerW, durationS } = command;
  const modeAfter = mode ?? currentMode;
  if (modeAfter === 'auto' && (typeof powerW === 'number' || typeof durationS === 'number')) {
    throw new SimError('COMMAND_CONFLICT', 'a power or a duration needs a forced mode: charge, discharge or idle');
  }
  if (modeAfter === 'idle' && typeof powerW === 'number' && powerW > 0) {
    throw new SimError('COMMAND_CONFLICT', `mode idle has no power: given ${powerW} W`);
  }
}

function checkStrings(
  strings: NonNullable<ControlCommand['strings']>,
  count: number,
  bad: (name: string, given: unknown, allowed: string) => void,
): void {
  const indexes = new Set<number>();
  for (const { index, contactor } of strings) {
    if (!Number.isInteger(index) || index < 0 || index >= count) bad('string index', index, `0 to ${count - 1}`);
    else if (indexes.has(index)) bad('string index', index, 'each string once');
    if (!['open', 'closed'].includes(contactor)) bad('contactor', contactor, 'open, closed');
    indexes.add(index);
  }
}

/** @throws SimError COMMAND_BAD_VALUE unless floor <= minimum <= maximum <= ceiling */
export function checkReserve({ minPct, maxPct }: ReserveCommand, floorPct: number, ceilingPct: number): void {
  if (!(minPct >= floorPct && minPct <= maxPct)) {
    refuse([
      {
        name: 'reserve minimum',
        detail: `given ${minPct} %; allowed: from the floor, ${floorPct} %, to the reserve maximum, ${maxPct} %`,
      },
    ]);
  }
  if (!(maxPct <= ceilingPct)) {
    refuse([
      {
        name: 'reserve maximum',
        detail: `given ${maxPct} %; allowed: from the reserve minimum, ${minPct} %, to the ceiling, ${ceilingPct} %`,
      },
    ]);
  }
}
