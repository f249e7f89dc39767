/** Carries out DERControls by points of the map, commands to devices, and limits at their connection point. */
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue } from '../../core/store.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import { pointNumber } from '../../sunspec/map/bank.ts';
import { written } from '../../sunspec/map/point-holds.ts';
import type { Revision } from '../xml/schema.ts';
import { DeviceControls } from './device-controls-bridge.ts';
import { modeNames, modesIn, unreadModes } from './modes.ts';
import type { ControlInForce, ControlOutcome, ControlTarget, LeftOutMode, ModeName, ResolvedControl } from './model.ts';
import { isSiteMode, SiteLimits } from './site-limits.ts';
import { isRefusal, leftOut } from './model.ts';

export interface ControlTargetOptions {
  /** at least one */
  readonly devices: readonly Device[];
  readonly plant: Pick<Plant, 'at' | 'devices' | 'grid' | 'onPower' | 'setSite' | 'siteOf' | 'time'>;
  /** owner of limits at the connection point: `csip:<lfdi>` */
  readonly siteOwner: string;
  readonly revision: Revision;
  readonly log: Logger;
  /** keeps the controls together with the registers, and restores those of an earlier process; absent: nothing does */
  readonly keep?: (part: Kept) => () => void;
}

/** A target whose devices change while controls are in force. */
export interface GroupTarget extends ControlTarget {
  /** Replaces the devices; the next `apply` carries the controls out on new ones, too. @param devices at least one */
  regroup(devices: readonly Device[]): void;
  /** modes that this device has, and those of the connection point */
  supportedBy(device: Device): ReadonlySet<ModeName>;
}

/**
 * The target of an EndDevice. With several devices, percentages, curves and switches act on each device; the values of
 * `sharedModes` are shared in proportion to 702.WMax; limits of CSIP-AUS and of absorption hold at the common connection
 * point.
 */
export function createControlTarget(options: ControlTargetOptions): GroupTarget {
  return new EndDeviceTarget(options);
}

/** Modes whose value, W or var, is for all devices together. */
const sharedModes: readonly ModeName[] = [
  'opModTargetW',
  'opModTargetVar',
  'opModStorageTargetW',
  'opModMaxLimWInject',
];

const settingOf = (device: Device, point: string) => pointNumber(device.bank, 702, point) ?? 0;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

class EndDeviceTarget implements GroupTarget {
  readonly #createControls: (device: Device) => DeviceControls;
  readonly #listeners = new Set<(reset: boolean) => void>();
  #devices: readonly DeviceControls[];
  readonly #site: SiteLimits;
  /** controls that have been applied: their limits hold while a device accepts no control */
  #running: ReadonlySet<string> = new Set();
  /** ends the keeping */
  readonly #endKeeping: () => void;

  constructor({ devices, plant, siteOwner, revision, log, keep }: ControlTargetOptions) {
    this.#createControls = (device) => {
      const shareOf = (mode: ModeName) => this.#shareOf(device, mode);
      const controls = new DeviceControls({ device, plant, revision, log, shareOf });
      controls.onChange((reset) => this.#notify(reset));
      return controls;
    };
    this.#devices = devices.map(this.#createControls);
    this.#site = new SiteLimits({
      plant,
      owner: siteOwner,
      devices: devices.map(({ index }) => index),
      revision,
      wMax: () => this.#sumOf('WMax'),
      chargeMaxW: () => this.#sumOf('WChaRteMax'),
    });
    this.#endKeeping = keep?.(this.#kept()) ?? (() => undefined);
  }

  #kept(): Kept {
    const site = this.#site.kept();
    return keptRecord(
      (): { devices: { index: number; state: JsonValue }[]; site: JsonValue; running: string[] } => ({
        devices: this.#devices.map((each) => ({ index: each.device.index, state: each.kept().save() })),
        site: site.save(),
        running: [...this.#running],
      }),
      (kept) => {
        // a device that starts anew has nothing that a control would have to end
        const restored = this.#devices.filter(({ device }) => device.bank.restored !== null);
        for (const { index, state } of kept.devices)
          restored
            .find(({ device }) => device.index === index)
            ?.kept()
            .restore(state);
        site.restore(kept.site);
        this.#running = new Set(kept.running);
      },
    );
  }

  get supported(): ReadonlySet<ModeName> {
    return this.#supportedBy(this.#devices);
  }

  supportedBy(device: Device): ReadonlySet<ModeName> {
    return this.#supportedBy(this.#devices.filter((each) => each.device === device));
  }

  #supportedBy(devices: readonly DeviceControls[]): ReadonlySet<ModeName> {
    const modes = new Set([...devices.flatMap((each) => each.supported()), ...this.#site.supported()]);
    return new Set(modeNames.filter((mode) => modes.has(mode)));
  }

  gradW(deviceIndex: number): number {
    const controls = this.#devices.find(({ device }) => device.index === deviceIndex);
    if (controls === undefined)
      throw new SimError('UNKNOWN_DEVICE', `device ${deviceIndex} is not under these controls`);
    return controls.gradW;
  }

  claims(id: string, control: ResolvedControl, deviceIndex: number): ReadonlyMap<ModeName, readonly HoldValue[]> {
    const controls = this.#devices.find(({ device }) => device.index === deviceIndex);
    const modes = modesIn(control.base).filter((mode) => !isSiteMode(mode));
    return controls?.claims(id, control, modes) ?? new Map();
  }

  check(control: ResolvedControl): ControlOutcome {
    const modes = modesIn(control.base);
    if (modes.length === 0 && !control.settings) return { state: 'unsupported', leftOut: [], overwritten: false };
    const site = this.#siteOutcome(modes, control);
    if (site?.state === 'invalid') return site;
    const deviceModes = modes.filter((mode) => !isSiteMode(mode));
    return merged(
      site,
      deviceModes.length > 0 || control.settings ? this.#devices.map((each) => each.check(control, deviceModes)) : [],
    );
  }

  get stamp(): string {
    return this.#devices.map((each) => each.stamp).join();
  }

  apply(controls: readonly ControlInForce[]): ReadonlyMap<string, ControlOutcome> {
    const inForce = controls.map(withUnread);
    const sites = new Map(inForce.map(({ id, modes, control }) => [id, this.#siteOutcome(modes, control)]));
    const allValid = inForce.filter(({ id }) => sites.get(id)?.state !== 'invalid');
    const outweighed = this.#site.outweighedAbsorption(allValid);
    const valid = allValid.map((each) => {
      const out = outweighed.get(each.id);
      return out ? { ...each, modes: each.modes.filter((mode) => !out.some((lost) => lost.mode === mode)) } : each;
    });
    const onDevices = valid.map((each) => ({ ...each, modes: each.modes.filter((mode) => !isSiteMode(mode)) }));
    const slopes = this.#site.slopes(valid);
    const results = this.#devices.map((each) => each.apply(onDevices, slopes));
    const outcomes = new Map(
      inForce.map((each) => {
        const { id, control } = each;
        const alone = sites.get(id) ?? null;
        const site = alone && { ...alone, leftOut: [...alone.leftOut, ...(outweighed.get(id) ?? [])] };
        if (site?.state === 'invalid') return [id, site] as const;
        const concernsDevices = control.settings !== undefined || each.modes.some((mode) => !isSiteMode(mode));
        return [id, merged(site, concernsDevices ? results.flatMap((result) => result.get(id) ?? []) : [])] as const;
      }),
    );
    const running = valid.filter(({ id }) => outcomes.get(id)?.state === 'applied' || this.#running.has(id));
    this.#running = new Set(running.map(({ id }) => id));
    const limited = written(() => {
      this.#site.apply(running);
    });
    return limited === 'done' ? outcomes : this.#withoutSite(running, outcomes);
  }

  onChange(listener: (reset: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  regroup(devices: readonly Device[]): void {
    const before = this.#devices;
    const remaining = devices.map(
      (device) => before.find((each) => each.device === device) ?? this.#createControls(device),
    );
    if (remaining.length === before.length && remaining.every((each) => before.includes(each))) return;
    this.#devices = remaining;
    for (const each of before) if (!remaining.includes(each)) each.close();
    // the share of each device in the common targets has changed
    for (const each of remaining) each.replan();
    written(() => this.#site.regroup(devices.map(({ index }) => index)));
    this.#notify(false);
  }

  close(): void {
    this.#site.apply([]);
    for (const each of this.#devices) each.close();
    this.#endKeeping();
  }

  leave(): void {
    this.#site.leave();
    for (const each of this.#devices) each.leave();
  }

  /** The outcome of the limits at the connection point of a control; null: the control has none. */
  #siteOutcome(modes: readonly ModeName[], control: ResolvedControl): ControlOutcome | null {
    const supported = new Set(this.#site.supported());
    const out: LeftOutMode[] = [];
    let count = 0;
    for (const mode of modes) {
      if (!isSiteMode(mode)) continue;
      count += 1;
      const wish = this.#site.wish(mode, control);
      if (!supported.has(mode)) out.push({ mode, reason: 'unsupported', detail: 'no device absorbs active power' });
      else if (isRefusal(wish)) out.push(leftOut(mode, wish));
    }
    if (count === 0) return null;
    const isBad = out.some(({ reason }) => reason === 'invalid');
    const state = isBad ? 'invalid' : out.length === count ? 'unsupported' : 'applied';
    return { state, leftOut: out, overwritten: false };
  }

  /** The outcomes when the plant refuses the limits: controls with limits at the connection point wait. */
  #withoutSite(
    running: readonly ControlInForce[],
    outcomes: ReadonlyMap<string, ControlOutcome>,
  ): ReadonlyMap<string, ControlOutcome> {
    const limited = new Set(running.flatMap(({ id, modes }) => (modes.some(isSiteMode) ? [id] : [])));
    return new Map(
      [...outcomes].map(([id, outcome]) => [id, limited.has(id) ? { ...outcome, state: 'waiting' } : outcome]),
    );
  }

  #sumOf(point: string): number {
    return sum(this.#devices.map(({ device }) => settingOf(device, point)));
  }

  #notify(reset: boolean): void {
    for (const listener of this.#listeners) listener(reset);
  }

  #shareOf(device: Device, mode: ModeName): number {
    if (this.#devices.length < 2 || !sharedModes.includes(mode)) return 1;
    const sharing = this.#devices.filter((each) => each.supported().includes(mode)).map((each) => each.device);
    const total = sum(sharing.map((each) => settingOf(each, 'WMax')));
    return total > 0 ? settingOf(device, 'WMax') / total : 1 / Math.max(1, sharing.length);
  }
}

/** The control with its modes that cannot be read, so that its outcome has their reasons. */
function withUnread(each: ControlInForce): ControlInForce {
  const unread = unreadModes(each.control.base).filter((mode) => !each.modes.includes(mode));
  return unread.length === 0 ? each : { ...each, modes: [...each.modes, ...unread] };
}

/** The state of a control on the devices: the first in `order` that a device has; null: no devices. */
function stateOn(devices: readonly ControlOutcome[]): ControlOutcome['state'] | null {
  const order = ['applied', 'invalid', 'waiting', 'unsupported'] as const;
  return order.find((state) => devices.some((each) => each.state === state)) ?? null;
}

/** The outcome of a control from those at the connection point and on the devices. */
function merged(site: ControlOutcome | null, devices: readonly ControlOutcome[]): ControlOutcome {
  const onDevices = stateOn(devices);
  const state = site?.state === 'applied' && onDevices === 'unsupported' ? 'applied' : (onDevices ?? site?.state);
  // a mode that one device leaves out and another runs is carried out
  const everywhere = (mode: ModeName) => devices.every((each) => each.leftOut.some((out) => out.mode === mode));
  const out = [...(site?.leftOut ?? []), ...(devices[0]?.leftOut.filter(({ mode }) => everywhere(mode)) ?? [])];
  const overwritten = devices.some((each) => each.overwritten);
  return { state: state ?? 'applied', leftOut: out, overwritten };
}
