/** Gradient of a device: slopes set by commands in place of 704.WRmp and 704.VarRmp; the last writer decides. */
import { gradientRange } from '../../contract/device.ts';
import type { Gradient, Slope } from '../../contract/device.ts';
import { givenAllowed, SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import type { Inverter } from '../inverter/inverter.ts';

/** Registers replaced by a gradient. */
const rampPoints: Readonly<Record<keyof Gradient, string>> = { wPctPerS: 'WRmp', varPctPerS: 'VarRmp' };
const names = Object.keys(rampPoints) as readonly (keyof Gradient)[];

function gradientIssue(name: keyof Gradient, value: number | null | undefined): Issue[] {
  const { min, max } = gradientRange;
  if (value === undefined || value === null || (value >= min && value <= max)) return [];
  return [{ name, detail: givenAllowed(value, `${min} to ${max} percent per second, or null to end it`) }];
}

export class DeviceGradient implements CommitParticipant {
  readonly #start: Gradient;
  readonly #slots: readonly (readonly [keyof Gradient, PointSlot])[];
  /** true if a fault keeps the last write of a point from physics */
  readonly #isWithheld: (slot: PointSlot) => boolean;
  #now: Gradient;
  /** slopes whose register was written later; they end when physics follows the write */
  readonly #overwritten = new Set<keyof Gradient>();

  /** @param start gradient of the profile */
  constructor(start: Gradient, layout: Layout, isWithheld: (slot: PointSlot) => boolean) {
    this.#start = start;
    this.#now = start;
    this.#isWithheld = isWithheld;
    this.#slots = names.flatMap((name) => {
      const slot = layout.slot(704, rampPoints[name]);
      return slot ? [[name, slot] as const] : [];
    });
  }

  /** The gradient in force. */
  get now(): Gradient {
    if (this.#overwritten.size > 0) {
      for (const [name, slot] of this.#slots)
        if (this.#overwritten.has(name) && !this.#isWithheld(slot)) this.#change(name, null);
    }
    return this.#now;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ gradient: this.#now, overwritten: [...this.#overwritten] }),
      ({ gradient, overwritten }) => {
        this.#now = gradient;
        this.#overwritten.clear();
        for (const name of overwritten) this.#overwritten.add(name);
      },
    );
  }

  /** True if the gradient in force is the one of the profile. */
  get isStart(): boolean {
    const { now } = this;
    return names.every((name) => now[name] === this.#start[name]);
  }

  /**
   * Sets slopes, or ends them with null; absent ones stay.
   * @throws SimError COMMAND_BAD_VALUE with an issue for each slope outside `gradientRange`; then both stay
   */
  set(change: Partial<Gradient>): void {
    const issues = names.flatMap((name) => gradientIssue(name, change[name]));
    if (issues.length > 0) {
      const text = issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
      throw new SimError('COMMAND_BAD_VALUE', text, issues);
    }
    for (const name of names) {
      const value = change[name];
      if (value !== undefined) this.#change(name, value);
    }
  }

  /** A write of a register ends its slope, even if the value stays the same. */
  prepare({ points, restored }: Commit): FollowUp | null {
    const written = this.#slots.filter(([, slot]) => points.includes(slot));
    if (written.length === 0) return null;
    // read now: the commit is closed when the follow-up runs
    const changes = written.map(([name, slot]) => [name, restored.get(slot)] as const);
    return () => {
      for (const [name, former] of changes) {
        if (former === undefined) this.#overwritten.add(name);
        else this.#restore(name, former.rank);
      }
    };
  }

  /** The slope that a write of its register ends; undefined: none. */
  rankOf(slot: PointSlot): number | undefined {
    const entry = this.#slots.find(([, rampSlot]) => rampSlot === slot);
    return entry && (this.now[entry[0]] ?? undefined);
  }

  /** Restores a slope with its register at the end of a timed control; a newer one stays. */
  #restore(name: keyof Gradient, former: number | undefined): void {
    const newer = this.#now[name] !== null && !this.#overwritten.has(name);
    if (former !== undefined && !newer) this.#change(name, former);
  }

  /** Resets both slopes to the profile. */
  reloaded(): void {
    this.#now = this.#start;
    this.#overwritten.clear();
  }

  #change(name: keyof Gradient, value: number | null): void {
    this.#overwritten.delete(name);
    this.#now = { ...this.#now, [name]: value };
  }
}

/** The slopes of an inverter. @param gradient gradient in force; null members: the registers */
export function slopesOf(inverter: Inverter, gradient: Gradient): { readonly w: Slope; readonly var: Slope } {
  const { wRampPctS, wRampOfCurrent, wMaxW, varRampPctS } = inverter.settings;
  const sourceOf = (pctPerS: number | null) => (pctPerS === null ? 'register' : 'gradient');
  return {
    w: {
      pctPerS: wRampOfCurrent ? (100 * inverter.rampWS) / wMaxW : wRampPctS,
      source: sourceOf(gradient.wPctPerS),
    },
    var: { pctPerS: varRampPctS, source: sourceOf(gradient.varPctPerS) },
  };
}
