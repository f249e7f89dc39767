/**
 * Several controls in force on one device at a time: the modes that run, and the slopes with which the power moves to
 * their aims.
 *
 * - Modes of one contest exclude each other; the control of the highest rank wins: an event before a default control,
 *   the lower primacy before the higher, the later event before the earlier. Among controls of one rank, and within one
 *   control, the mode with the smallest magnitude takes precedence (the schema's rule for reactive power; the tightest
 *   of several limits), and of equal magnitudes the control of higher priority. The winner is decided at the operating
 *   point at which the contest begins and stays until a mode joins or leaves the contest, so that a cloud does not make
 *   functions take turns. The two power factors act in different directions and are one contender.
 * - Modes that would write different values to one point exclude each other: the control of higher priority wins.
 * - `rampTms` of a control and `setGradW` of a default control become slopes; the slope of the first control that has
 *   one, in order of priority, is in force.
 */
import { gradientRange } from '../../contract/device.ts';
import type { ControlValue } from '../../core/command-hold.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { PointValues } from '../../sunspec/map/point-holds.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { scaledOf } from './model.ts';
import type { LeftOutMode, ModeName, Aim, Contest, Wish } from './model.ts';

/** A control with the modes that could run on the device if it were alone. */
export interface Contribution {
  readonly id: string;
  readonly rank: string;
  readonly wishes: ReadonlyMap<ModeName, Wish>;
  /** values beside the modes; the first control with a value for a point sets it */
  readonly settings: readonly HoldValue[];
}

export interface Composition {
  /** values to write, by control; a point belongs to one control */
  readonly values: ReadonlyMap<string, PointValues>;
  readonly outweighed: ReadonlyMap<string, readonly LeftOutMode[]>;
  /** powers at which the modes that run aim, in order of priority */
  readonly aims: readonly ControlValue<Aim>[];
  readonly switchClosed: ControlValue<boolean> | null;
  readonly storageW: ControlValue<number> | null;
}

interface Contender {
  readonly key: string;
  /** of its first member */
  readonly rank: string;
  readonly members: readonly { readonly id: string; readonly mode: ModeName; readonly contest: Contest }[];
}

const powerFactors: readonly ModeName[] = ['opModFixedPFInjectW', 'opModFixedPFAbsorbW'];

/** The contests of a device, with their present winners. */
export class Contests {
  readonly #standing = new Map<Contest['group'], { readonly contenders: string; readonly winner: string }>();

  /** The modes that have lost, by control, each with the name of the winner. */
  losers(contributions: readonly Contribution[]): ReadonlyMap<string, ReadonlyMap<ModeName, string>> {
    const lost = new Map<string, Map<ModeName, string>>();
    for (const group of ['reactive', 'injected power'] as const) {
      const contenders = contendersOf(group, contributions);
      const winner = this.#winner(group, contenders);
      for (const { key, members } of contenders) {
        if (winner === null || key === winner.key) continue;
        const winnerName = winner.members.map(({ id, mode }) => `${mode} of ${id}`).join(' and ');
        for (const { id, mode } of members) {
          const ofControl = lost.get(id) ?? new Map<ModeName, string>();
          lost.set(id, ofControl.set(mode, winnerName));
        }
      }
    }
    return lost;
  }

  forget(): void {
    this.#standing.clear();
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ standing: Array.from(this.#standing, ([group, standing]) => ({ group, ...standing })) }),
      ({ standing }) => {
        this.#standing.clear();
        for (const { group, ...contest } of standing) this.#standing.set(group, contest);
      },
    );
  }

  #winner(group: Contest['group'], contenders: readonly Contender[]): Contender | null {
    const key = contenders.map((each) => `${each.rank} ${each.key}`).join('\n');
    const standing = this.#standing.get(group);
    const formerWinner =
      standing?.contenders === key ? contenders.find((each) => each.key === standing.winner) : undefined;
    const [highest] = contenders;
    const winner = formerWinner ?? smallestOf(contenders.filter(({ rank }) => rank === highest?.rank));
    if (winner) this.#standing.set(group, { contenders: key, winner: winner.key });
    else this.#standing.delete(group);
    return winner;
  }
}

function contendersOf(group: Contest['group'], contributions: readonly Contribution[]): readonly Contender[] {
  const contenders: Omit<Contender, 'key'>[] = [];
  const factors: Contender['members'][number][] = [];
  for (const { id, rank, wishes } of contributions) {
    for (const [mode, { contest }] of wishes) {
      if (contest?.group !== group) continue;
      const member = { id, mode, contest };
      if (powerFactors.includes(mode)) {
        if (!factors.some((each) => each.mode === mode)) factors.push(member);
        if (factors.length === 1) contenders.push({ rank, members: factors });
      } else contenders.push({ rank, members: [member] });
    }
  }
  return contenders.map(({ rank, members }) => ({
    rank,
    members,
    key: members.map(({ id, mode }) => `${id} ${mode}`).join(', '),
  }));
}

function magnitudeOf({ members }: Contender): number {
  return Math.min(...members.map(({ contest }) => contest.magnitude()));
}

function smallestOf(contenders: readonly Contender[]): Contender | null {
  let smallest: Contender | null = null;
  let minMagnitude = Infinity;
  for (const contender of contenders) {
    const magnitude = magnitudeOf(contender);
    if (smallest === null || magnitude < minMagnitude) [smallest, minMagnitude] = [contender, magnitude];
  }
  return smallest;
}

/** Composes the controls of one device. */
class Composer {
  readonly values = new Map<string, PointValues>();
  readonly outweighed = new Map<string, LeftOutMode[]>();
  readonly aims: ControlValue<Aim>[] = [];
  switchClosed: ControlValue<boolean> | null = null;
  storageW: ControlValue<number> | null = null;
  readonly #owners = new Map<PointSlot, { readonly id: string; readonly value: AnyPointValue }>();

  /** Assigns points to a control, except those that are assigned already. */
  assign(id: string, points: readonly HoldValue[]): void {
    const controlValues = this.values.get(id) ?? new Map<PointSlot, AnyPointValue>();
    this.values.set(id, controlValues);
    for (const { slot, value } of points) {
      if (this.#owners.has(slot)) continue;
      this.#owners.set(slot, { id, value });
      controlValues.set(slot, value);
    }
  }

  leaveOut(id: string, mode: ModeName, winner: string): void {
    const detail = `${winner} takes precedence`;
    this.outweighed.set(id, [...(this.outweighed.get(id) ?? []), { mode, reason: 'outweighed', detail }]);
  }

  /** Lets a mode run, unless it contradicts a mode that runs. */
  run(id: string, mode: ModeName, wish: Wish): void {
    const rival = this.#rivalOf(wish);
    if (rival !== null) {
      this.leaveOut(id, mode, rival);
      return;
    }
    this.assign(id, wish.points);
    if (wish.aim) this.aims.push({ id, value: wish.aim });
    if (wish.switchClosed !== undefined) this.switchClosed = { id, value: wish.switchClosed };
    if (wish.storageW !== undefined) this.storageW = { id, value: wish.storageW };
  }

  /** The control that has a point of a wish with another value, or the switch or storage; null: none. */
  #rivalOf({ points, switchClosed, storageW }: Wish): string | null {
    for (const { slot, value } of points) {
      const owner = this.#owners.get(slot);
      if (owner && owner.value !== value) return owner.id;
    }
    if (switchClosed !== undefined && this.switchClosed) return this.switchClosed.id;
    return storageW !== undefined && this.storageW ? this.storageW.id : null;
  }
}

/**
 * Composes controls.
 * @param contributions highest priority first
 * @param reactiveEnables the points that enable the functions of reactive power: one control has them all
 */
export function compose(
  contributions: readonly Contribution[],
  contests: Contests,
  reactiveEnables: readonly PointSlot[],
): Composition {
  const composer = new Composer();
  const losers = contests.losers(contributions);
  const runs = ({ id, wishes }: Contribution) => [...wishes].filter(([mode]) => !losers.get(id)?.has(mode));
  // the enables of the winning function first: the one enabled last would act
  const winners = contributions.flatMap((each) =>
    runs(each).flatMap(([, wish]) => (wish.contest?.group === 'reactive' ? [{ id: each.id, wish }] : [])),
  );
  const [firstWinner] = winners;
  if (firstWinner) {
    const isEnable = ({ slot }: HoldValue) => reactiveEnables.includes(slot);
    const enables = winners.flatMap(({ wish }) => wish.points.filter(isEnable));
    const disables = reactiveEnables.map((slot): HoldValue => ({ slot, value: 'DISABLED' }));
    composer.assign(firstWinner.id, [...enables, ...disables]);
  }
  for (const contribution of contributions) {
    const { id, wishes, settings } = contribution;
    for (const [mode, winner] of losers.get(id) ?? []) composer.leaveOut(id, mode, winner);
    for (const [mode, wish] of wishes) if (!losers.get(id)?.has(mode)) composer.run(id, mode, wish);
    composer.assign(id, settings);
  }
  return composer;
}

/** Present powers (`w`, `var`) and those that are 100 % of a gradient (`wMax`, `varMax`), W and var. */
interface RampBase {
  readonly w: number;
  readonly var: number;
  readonly wMax: number;
  readonly varMax: number;
}

/** Slopes that a control asks for, percent per second; absent: none. */
export interface Slopes {
  readonly w?: number;
  readonly var?: number;
}

/** A slope within `gradientRange`. */
function clamped(pctPerS: number): number {
  return Math.min(gradientRange.max, Math.max(gradientRange.min, pctPerS));
}

/** Slope from the present power to the aim within `seconds`, percent per second; null: none is needed. */
function slope(from: number, to: number, max: number, seconds: number): number | null {
  const pct = max > 0 ? (100 * Math.abs(to - from)) / max : 0;
  if (pct === 0) return null;
  return clamped(seconds > 0 ? pct / seconds : Infinity);
}

/**
 * The slopes with which a control reaches its aims within its `rampTms`.
 * @param aims of the modes of the control that run
 * @param rampTms hundredths of a second
 */
export function slopesFor(aims: readonly Aim[], rampTms: unknown, present: RampBase): Slopes {
  const seconds = scaledOf(rampTms, -2);
  if (seconds === null || seconds < 0) return {};
  const aimW = aims.find((aim) => aim.w !== undefined)?.w;
  const aimVar = aims.find((aim) => aim.var !== undefined)?.var;
  const w = aimW === undefined ? null : slope(present.w, aimW, present.wMax, seconds);
  const reactive = aimVar === undefined ? null : slope(present.var, aimVar, present.varMax, seconds);
  return { ...(w !== null && { w }), ...(reactive !== null && { var: reactive }) };
}

/** `setGradW` of a default control, hundredths of a percent per second; 0: no limit. null: not given. */
export function defaultSlope(setGradW: unknown): number | null {
  const pctPerS = scaledOf(setGradW, -2);
  if (pctPerS === null || pctPerS < 0) return null;
  return clamped(pctPerS === 0 ? Infinity : pctPerS);
}

/** The first control in order of priority that asks for a slope. */
export function firstSlope(slopes: readonly ControlValue<Slopes>[], of: keyof Slopes): ControlValue<number> | null {
  for (const { id, value } of slopes) {
    const pctPerS = value[of];
    if (pctPerS !== undefined) return { id, value: pctPerS };
  }
  return null;
}
