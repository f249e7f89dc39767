/** Creates the devices of a plant, at its start and while it runs. */
import { protocolsOf } from '../../contract/device-protocols.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Provenance } from '../../core/origin.ts';
import { SimDevice } from '../device/device.ts';
import { serialNumberOf } from '../device/identity.ts';
import type { DeviceContext } from '../device/device-context.ts';
import type { DeviceSpec, DeviceTemplate, ProfileSpec } from '../device/template.ts';
import type { Wiring } from '../inverter/ac.ts';
import type { Places } from '../surroundings/places.ts';
import { kindTraits } from '../device/kinds.ts';
import { createTemplate } from '../device/template.ts';
import { checkVisits } from '../surroundings/visits.ts';
import { spreadSource } from './spread.ts';

export interface FactoryOptions {
  /** shared by all devices */
  readonly context: Omit<DeviceContext, 'visits'>;
  readonly places: Places;
  readonly nominalHz: number;
  /** true: devices also serve models 64413 and 64414 */
  readonly simModels: boolean;
  /** start value of 1.DA by device index; absent: not implemented */
  readonly unitAddressOf?: ((index: number) => number) | undefined;
  /** maximum deviation between devices of one profile, percent; 0: devices are equal */
  readonly spreadPct: number;
  readonly spreadAnchor?: SpreadAnchor | undefined;
  readonly version: string;
}

/**
 * Index of the device that has exactly the values of a profile, where a fleet has its devices in several plants; another
 * one may have that device. Undefined: it is the first device of the profile in this plant.
 */
export type SpreadAnchor = (spec: DeviceSpec) => number | undefined;

interface StampedTemplate {
  readonly template: DeviceTemplate;
  /** time of its profile points */
  readonly at: SimTime;
}

type Templates<Template> = WeakMap<ProfileSpec, Map<string, Template>>;

/** The entry of a profile; weak: that of an unused profile is dropped with it. */
function entryOf<Template>(templates: Templates<Template>, profile: ProfileSpec, key: string, make: () => Template) {
  const byKey = templates.get(profile) ?? new Map<string, Template>();
  templates.set(profile, byKey);
  const entry = byKey.get(key) ?? make();
  byKey.set(key, entry);
  return entry;
}

/** Plants of one process that share a profile share what is made of it: checks of each point take most of a start. */
const madeTemplates: Templates<DeviceTemplate> = new WeakMap();

export class DeviceFactory {
  readonly #options: FactoryOptions;
  readonly #templates: Templates<StampedTemplate> = new WeakMap();
  /** profiles that have had a device here */
  readonly #used = new WeakSet<ProfileSpec>();

  constructor(options: FactoryOptions) {
    this.#options = options;
  }

  /** @throws SimError CONFIG_INVALID for a visit to a connector that the station does not have */
  checkVisits({ profile: { source }, series }: DeviceSpec): void {
    if (series?.visits && source.kind === 'evse')
      checkVisits(
        series.visits,
        source.evse.connectors.map(({ connectorId }) => connectorId),
      );
  }

  /**
   * The parts that all devices of a profile share.
   * @throws SimError CONFIG_INVALID with the issues of the profile, named from its root
   */
  template({ profile, phases }: DeviceSpec, at: SimTime): DeviceTemplate {
    const entry = entryOf(this.#templates, profile, phases, () => ({
      template: this.#stamped(this.#made(profile, phases, at), at),
      at,
    }));
    return entry.at === at ? entry.template : this.#stamped(entry.template, at);
  }

  /**
   * Creates a device that is settled in the grid and weather of an instant.
   * @throws SimError CONFIG_INVALID with the issues of profile or visits; nothing of the device remains then
   */
  make(spec: DeviceSpec, index: number, at: SimTime): SimDevice {
    this.checkVisits(spec);
    const create = this.#maker(spec, index, at);
    this.#options.places.enter(index, spec);
    try {
      return create();
    } catch (error) {
      this.release(index);
      throw error;
    }
  }

  /**
   * As `make`, for the index of a device that still works.
   * @returns `undo` leaves the place to the former device
   * @throws SimError as `make`; the place is that of the former device then
   */
  makeInPlace(spec: DeviceSpec, index: number, at: SimTime): { readonly device: SimDevice; readonly undo: () => void } {
    this.checkVisits(spec);
    const create = this.#maker(spec, index, at);
    const undo = this.#options.places.enter(index, spec);
    try {
      return { device: create(), undo };
    } catch (error) {
      undo();
      throw error;
    }
  }

  /** True: the device has exactly the values of its profile, also its serial number. */
  #isAnchor(spec: DeviceSpec, index: number): boolean {
    const { spreadAnchor } = this.#options;
    return !this.#used.has(spec.profile) && index === (spreadAnchor?.(spec) ?? index);
  }

  /** A function that creates a device in its place. @throws SimError CONFIG_INVALID with the issues of the profile */
  #maker(spec: DeviceSpec, index: number, at: SimTime): () => SimDevice {
    const template = this.#templateOf(spec, index, at);
    const { context, version, unitAddressOf } = this.#options;
    const { name, deviceType, profileName } = spec;
    const profileSerial = spec.profile.models['1']?.['SN'];
    const identity = {
      index,
      name,
      deviceType,
      profileName,
      ...protocolsOf(spec),
      serialNumber: serialNumberOf(index, profileSerial?.toString(), this.#isAnchor(spec, index)),
      version,
      ...(unitAddressOf && { unitAddress: unitAddressOf(index) }),
    };
    return () => {
      const device = new SimDevice(identity, template, { ...context, visits: spec.series?.visits ?? null }, at);
      this.#used.add(spec.profile);
      return device;
    };
  }

  /** The shared template with physics of one device: layout and start values stay, so nameplates do not differ. */
  #templateOf(spec: DeviceSpec, index: number, at: SimTime): DeviceTemplate {
    const shared = this.template(spec, at);
    const { spreadPct, context } = this.#options;
    if (spreadPct === 0 || this.#isAnchor(spec, index)) return shared;
    const source = spreadSource(spec.profile.source, spreadPct, context.seed, index);
    const deviceTraits = kindTraits(source, shared.ratings.wMaxW, []);
    return deviceTraits === null ? shared : { ...shared, ...deviceTraits, storage: shared.storage };
  }

  /** Removes the place, local deviations, off state and communication alarms of a device. */
  release(index: number): void {
    this.#options.places.leave(index);
    this.#options.context.environment.clearLocal(index);
    this.#options.context.dark?.forget(index);
    this.#options.context.commAlarms?.forget(index);
  }

  #made(profile: ProfileSpec, phases: Wiring, at: SimTime): DeviceTemplate {
    const { context, nominalHz, simModels, unitAddressOf } = this.#options;
    const options = { withSimModels: simModels, addressable: unitAddressOf !== undefined };
    return entryOf(madeTemplates, profile, JSON.stringify([phases, nominalHz, options]), () =>
      createTemplate(profile, phases, nominalHz, at, context.clock.wallMs(), options),
    );
  }

  /** With the start of the device as the time of the points that the profile sets. */
  #stamped(template: DeviceTemplate, at: SimTime): DeviceTemplate {
    const provenance: Provenance = { source: 'profile', at, wallMs: this.#options.context.clock.wallMs() };
    return {
      ...template,
      profilePoints: new Map([...template.profilePoints.keys()].map((slot) => [slot, provenance])),
    };
  }
}
