/** The controls in force on one device, except for the limits of its connection point. */
import { slopeState } from '../../contract/device.ts';
import type { Device, OverrideName } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { CommandHold } from '../../core/command-hold.ts';
import type { ControlValue, CommandState } from '../../core/command-hold.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Logger } from '../../core/log/log.ts';
import { reactiveEnables } from '../../sunspec/map/grid-support/state.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import { PointHolds, written } from '../../sunspec/map/point-holds.ts';
import type { Written } from '../../sunspec/map/point-holds.ts';
import type { Revision } from '../xml/schema.ts';
import { Asset } from './asset-bridge.ts';
import { compose, Contests, defaultSlope, firstSlope, slopesFor } from './composition.ts';
import type { Composition, Contribution, Slopes } from './composition.ts';
import { settingsWish, supportsMode, wishOf } from './mode-rows.ts';
import { modeNames } from './modes.ts';
import type { ControlInForce, ControlOutcome, LeftOutMode, ModeName, ResolvedControl, Refusal, Wish } from './model.ts';
import { isRefusal, leftOut } from './model.ts';
import type { HybridPolicy } from '../../contract/kinds/hybrid.ts';

/** The last writer of an override, a new object for each command. */
const writerOf = (device: Device, override: OverrideName) => device.overrides.find(({ name }) => name === override);

/** The disconnect switch, which has no register. */
function switchState(device: Device): CommandState<boolean> {
  return {
    read: () => device.switchClosed,
    write: (closed, by) => {
      device.command({ kind: 'switch', closed }, by);
    },
    mark: () => writerOf(device, 'switch'),
  };
}

/** Policy and battery power of a hybrid, which have no register. */
function storageState(device: Device): CommandState<StoragePin> {
  const read = (): StoragePin => {
    const { detail } = device;
    return detail.kind === 'hybrid-dc' ? { policy: detail.policy, powerW: detail.manualBatteryW } : null;
  };
  return {
    read,
    write: (pin, by) => {
      if (pin === null) return;
      if (read()?.policy !== pin.policy) device.command({ kind: 'hybrid.policy', policy: pin.policy }, by);
      if (pin.policy === 'manual') device.command({ kind: 'hybrid.battery', powerW: pin.powerW }, by);
    },
    mark: () => {
      const pin = read();
      return `${String(pin?.policy)} ${String(pin?.powerW)}`;
    },
    equal: (a, b) => a?.policy === b?.policy && a?.powerW === b?.powerW,
  };
}

/** Policy of a hybrid and its battery power in policy `manual`, W; null: the device is not a hybrid. */
type StoragePin = {
  readonly policy: HybridPolicy;
  readonly powerW: number | null;
} | null;

interface DeviceControlsOptions {
  readonly device: Device;
  readonly plant: Pick<Plant, 'grid' | 'onPower'>;
  readonly revision: Revision;
  readonly log: Logger;
  /** the part of a target of the EndDevice that falls to this device, 0..1 */
  readonly shareOf: (mode: ModeName) => number;
}

/** The effect that a control alone would have on the device. */
interface Plan {
  readonly control: ResolvedControl;
  readonly modes: readonly ModeName[];
  readonly wishes: ReadonlyMap<ModeName, Wish>;
  readonly settings: readonly HoldValue[];
  readonly leftOut: readonly LeftOutMode[];
  /** null: the control can run */
  readonly refused: 'unsupported' | 'invalid' | null;
  /** true: the device could not check the values yet */
  readonly waiting: boolean;
}

const sameModes = (a: readonly ModeName[], b: readonly ModeName[]) =>
  a.length === b.length && a.every((x, i) => x === b[i]);

export class DeviceControls {
  readonly device: Device;
  readonly #options: DeviceControlsOptions;
  readonly #asset: Asset;
  readonly #points: PointHolds;
  readonly #contests = new Contests();
  readonly #plans = new Map<string, Plan>();
  /** controls that have been applied */
  readonly #running = new Set<string>();
  /** by control, with the inputs they were computed from */
  readonly #slopes = new Map<string, { readonly inputs: string; readonly slopes: Slopes }>();
  readonly #switch: CommandHold<boolean>;
  readonly #storage: CommandHold<StoragePin>;
  readonly #slopeW: CommandHold<number | null>;
  readonly #slopeVar: CommandHold<number | null>;
  /** slope of active power before controls set one, percent per second; null: no control sets one */
  #slopeBefore: number | null = null;
  /** setGradW in force, percent per second */
  #gradW: number | null = null;
  readonly #listeners = new Set<(reset: boolean) => void>();
  readonly #subscriptions: readonly (() => void)[];
  /** commits, and times at which the device went off or came back */
  #changes = 0;
  #closed = false;

  constructor(options: DeviceControlsOptions) {
    const { device, plant } = options;
    this.device = device;
    this.#options = options;
    this.#asset = new Asset(device, plant);
    this.#points = new PointHolds(device.bank, 'csip');
    this.#switch = new CommandHold(switchState(device), 'csip');
    this.#storage = new CommandHold(storageState(device), 'csip');
    this.#slopeW = new CommandHold(slopeState(device, 'wPctPerS'), 'csip');
    this.#slopeVar = new CommandHold(slopeState(device, 'varPctPerS'), 'csip');
    this.#subscriptions = [
      device.bank.onChange(() => {
        this.#changes += 1;
      }),
      // registered after the listener of the holds, which forgets them first
      device.bank.onReload(() => {
        this.#forget();
        if (this.#closed) this.close();
        else this.#notify(true);
      }),
      plant.onPower(({ index, down }) => {
        if (index !== device.index) return;
        this.#changes += 1;
        if (down) return;
        if (this.#closed) this.close();
        else this.#notify(false);
      }),
    ];
  }

  /** Slope of active power, percent per second, without the ramps of single controls (`rampTms`). */
  get gradW(): number {
    const presentPctPerS = this.device.gradient.w.pctPerS;
    return this.#slopeW.overwritten ? presentPctPerS : (this.#gradW ?? this.#slopeBefore ?? presentPctPerS);
  }

  /** Modes that act on the device, in the order of the bitmaps. */
  supported(): readonly ModeName[] {
    return modeNames.filter((mode) => supportsMode(mode, this.#asset, this.#options.revision));
  }

  claims(
    id: string,
    control: ResolvedControl,
    modes: readonly ModeName[],
  ): ReadonlyMap<ModeName, readonly HoldValue[]> {
    const applied = this.#plans.get(id)?.wishes;
    return new Map(
      modes.flatMap((mode) => {
        const wish = applied?.get(mode) ?? this.#wishOf(mode, control);
        return isRefusal(wish) || wish.points.length === 0 ? [] : [[mode, wish.points] as const];
      }),
    );
  }

  /** Equal while no result of `check` can differ. */
  get stamp(): string {
    const { index, localControl } = this.device;
    return `${index} ${this.#changes}${localControl ? ' local' : ''}`;
  }

  check(control: ResolvedControl, modes: readonly ModeName[]): ControlOutcome {
    const plan = this.#plan(control, modes);
    return { state: plan.refused ?? (plan.waiting ? 'waiting' : 'applied'), leftOut: plan.leftOut, overwritten: false };
  }

  /** @param siteSlopes slopes of active power for limits of the connection point, by control */
  apply(
    inForce: readonly ControlInForce[],
    siteSlopes: ReadonlyMap<string, number>,
  ): ReadonlyMap<string, ControlOutcome> {
    this.#updatePlans(inForce);
    const contributions = inForce.flatMap(({ id, rank }): Contribution[] => {
      const plan = this.#plans.get(id);
      // a running control continues while the device accepts no writes
      const runs = plan?.refused === null && (!plan.waiting || this.#running.has(id));
      return runs ? [{ id, rank, ...plan }] : [];
    });
    const composition = compose(contributions, this.#contests, reactiveEnables(this.device.bank.layout));
    const results = new Map(this.#points.follow(composition.values));
    const record = (requested: ControlValue<unknown> | null, result: Written) => {
      if (requested && result !== 'done' && (results.get(requested.id) ?? 'done') === 'done')
        results.set(requested.id, result);
    };
    const { switchClosed, storageW } = composition;
    const pin = storageW && { id: storageW.id, value: { policy: 'manual', powerW: storageW.value } as const };
    const slopes = this.#slopesOf(contributions, composition).map(({ id, value }) => {
      const w = value.w ?? siteSlopes.get(id);
      return { id, value: { ...value, ...(w !== undefined && { w }) } };
    });
    const [slopeW, slopeVar] = [firstSlope(slopes, 'w'), firstSlope(slopes, 'var')];
    this.#gradW = firstSlope(contributions.map(this.#defaultSlopeOf), 'w')?.value ?? null;
    this.#slopeBefore = slopeW === null ? null : (this.#slopeBefore ?? this.device.gradient.w.pctPerS);
    // a control whose points are refused has no other effect either
    const unlessRefused = <Value>(requested: ControlValue<Value> | null) =>
      requested && typeof results.get(requested.id) === 'object' ? null : requested;
    record(switchClosed, change(this.#switch, unlessRefused(switchClosed)));
    record(pin, change(this.#storage, unlessRefused(pin)));
    record(slopeW, change(this.#slopeW, unlessRefused(slopeW)));
    record(slopeVar, change(this.#slopeVar, unlessRefused(slopeVar)));
    const outcomes = inForce.map(({ id }) => [id, this.#outcome(id, composition, results.get(id) ?? 'done')] as const);
    for (const [id, { state }] of outcomes) if (state === 'applied') this.#running.add(id);
    return new Map(outcomes);
  }

  /** Makes the next `apply` compute the plans of all controls again. */
  replan(): void {
    this.#plans.clear();
  }

  onChange(listener: (reset: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Ends all controls; on a device that is off, as soon as it is on again. */
  close(): void {
    this.#closed = true;
    this.apply([], new Map());
    const commands = [this.#switch, this.#storage, this.#slopeW, this.#slopeVar];
    if (!this.#points.isEmpty || commands.some(({ id }) => id !== null)) return;
    for (const end of this.#subscriptions) end();
    this.#points.close();
  }

  /** Ends without releasing anything. */
  leave(): void {
    this.#closed = true;
    for (const end of this.#subscriptions) end();
  }

  /** State that a restart keeps, restored after the device; plans are made again. */
  kept(): Kept {
    return keptParts({
      points: this.#points.kept(),
      contests: this.#contests.kept(),
      switch: this.#switch.kept(),
      storage: this.#storage.kept(),
      slopeW: this.#slopeW.kept(),
      slopeVar: this.#slopeVar.kept(),
      controls: keptRecord(
        () => ({
          running: [...this.#running],
          slopes: Array.from(this.#slopes, ([id, { inputs, slopes }]) => ({ id, inputs, slopes })),
          slopeBefore: this.#slopeBefore,
          gradW: this.#gradW,
        }),
        ({ running, slopes, slopeBefore, gradW }) => {
          for (const id of running) this.#running.add(id);
          for (const { id, ...each } of slopes) this.#slopes.set(id, each);
          [this.#slopeBefore, this.#gradW] = [slopeBefore, gradW];
        },
      ),
    });
  }

  #forget(): void {
    this.#points.forget();
    // not the storage: a reboot keeps the policy, and a reset changes it, which counts as an overwrite
    for (const hold of [this.#switch, this.#slopeW, this.#slopeVar]) hold.forget();
    this.#contests.forget();
    this.#plans.clear();
    this.#slopes.clear();
    this.#running.clear();
    this.#slopeBefore = null;
    this.#gradW = null;
  }

  #notify(reset: boolean): void {
    for (const listener of this.#listeners) listener(reset);
  }

  /** Plans new, changed and waiting controls, and drops the plans of controls that are over. */
  #updatePlans(inForce: readonly ControlInForce[]): void {
    const ids = new Set(inForce.map(({ id }) => id));
    for (const id of this.#plans.keys()) if (!ids.has(id)) this.#plans.delete(id);
    for (const id of this.#slopes.keys()) if (!ids.has(id)) this.#slopes.delete(id);
    for (const id of this.#running) if (!ids.has(id)) this.#running.delete(id);
    for (const { id, control, modes } of inForce) {
      const plan = this.#plans.get(id);
      if (plan && !plan.waiting && plan.control === control && sameModes(plan.modes, modes)) continue;
      this.#plans.set(id, this.#plan(control, modes));
    }
  }

  #wishOf(mode: ModeName, control: ResolvedControl): Wish | Refusal {
    const { revision, shareOf } = this.#options;
    return wishOf(mode, control.base[mode], { asset: this.#asset, revision, control, share: shareOf(mode) });
  }

  #plan(control: ResolvedControl, modes: readonly ModeName[]): Plan {
    const wishes = new Map<ModeName, Wish>();
    const out: LeftOutMode[] = [];
    let waiting = false;
    for (const mode of modes) {
      const wish = this.#wishOf(mode, control);
      const result = isRefusal(wish) ? wish : this.#points.check(wish.points);
      if (result === 'waiting') waiting = true;
      else if (result !== 'done') out.push(leftOut(mode, result));
      if (!isRefusal(wish)) wishes.set(mode, wish);
    }
    const settingPoints = control.settings === undefined ? [] : this.#asset.place([settingsWish(control.settings)]);
    const settings = (isRefusal(settingPoints) ? [] : settingPoints).filter((each) => {
      const result = this.#points.check([each]);
      if (result === 'waiting') waiting = true;
      else if (result !== 'done')
        this.#options.log.warning(`a setting of a default control is left out: ${result.detail}`, this.device.index);
      return result === 'done';
    });
    for (const { mode } of out) wishes.delete(mode);
    const isBad = out.some(({ reason }) => reason === 'invalid');
    const isEmpty = modes.length > 0 && wishes.size === 0 && !waiting;
    return {
      control,
      modes,
      wishes,
      settings,
      leftOut: out,
      refused: isBad ? 'invalid' : isEmpty ? 'unsupported' : null,
      waiting,
    };
  }

  /** The slopes by control, highest priority first, computed again only when inputs of a control change. */
  #slopesOf(contributions: readonly Contribution[], composition: Composition): readonly ControlValue<Slopes>[] {
    const asset = this.#asset;
    const { aims, outweighed, switchClosed } = composition;
    // a device disconnects without the slope of the default control
    const opens = switchClosed?.value === false;
    return contributions.map(({ id, wishes }) => {
      const plan = this.#plans.get(id);
      const out = outweighed.get(id) ?? [];
      const { rampTms } = plan?.control.base ?? {};
      const defaults = opens ? {} : this.#defaultSlopeOf({ id }).value;
      const modes = [...wishes.keys()].filter((mode) => !out.some((each) => each.mode === mode));
      const inputs = JSON.stringify([modes, rampTms, defaults]);
      const cached = this.#slopes.get(id);
      if (cached?.inputs === inputs) return { id, value: cached.slopes };
      const controlAims = aims.flatMap((each) => (each.id === id ? [each.value] : []));
      const present = { w: asset.w, var: asset.var, wMax: asset.wMax, varMax: asset.varMax };
      const ramped = slopesFor(controlAims, rampTms, present);
      const slopes = { ...defaults, ...ramped };
      this.#slopes.set(id, { inputs, slopes });
      return { id, value: slopes };
    });
  }

  /** The slope that a default control sets with `setGradW`. */
  readonly #defaultSlopeOf = ({ id }: { readonly id: string }): ControlValue<Slopes> => {
    const w = defaultSlope(this.#plans.get(id)?.control.settings?.setGradW);
    return { id, value: w === null ? {} : { w } };
  };

  #outcome(id: string, { outweighed }: Composition, result: Written): ControlOutcome {
    const plan = this.#plans.get(id);
    const out = [...(plan?.leftOut ?? []), ...(outweighed.get(id) ?? [])];
    const overwritten =
      this.#points.isOverwritten(id) ||
      [this.#switch, this.#storage, this.#slopeW, this.#slopeVar].some((hold) => hold.id === id && hold.overwritten);
    const refused = result === 'done' || result === 'waiting' ? null : result.refused;
    const state = plan?.refused ?? refused ?? (plan?.waiting === true || result === 'waiting' ? 'waiting' : 'applied');
    return { state, leftOut: out, overwritten };
  }
}

function change<Value>(hold: CommandHold<Value>, requested: ControlValue<Value> | null): Written {
  return written(() => {
    hold.change(requested);
  });
}
