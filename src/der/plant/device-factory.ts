/** Makes the devices of a plant, at its start and while it runs. */
import type { SimTime } from '../../core/time/clock.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { Provenance } from '../../core/origin.ts';
import { SimDevice } from '../device/device.ts';
import type { DeviceContext } from '../device/device-context.ts';
import type { DeviceSpec } from './device-spec.ts';
import type { Wiring } from '../inverter/ac.ts';
import type { Places } from '../surroundings/places.ts';
import { createTemplate } from '../device/template.ts';
import type { DeviceTemplate, ProfileSpec } from '../device/template.ts';
import { checkVisits } from '../surroundings/visits.ts';

export interface FactoryOptions {
  /** what all devices have in common */
  readonly context: Omit<DeviceContext, 'visits'>;
  readonly places: Places;
  readonly nominalHz: number;
  /** devices serve the models 64413 and 64414 too */
  readonly simModels: boolean;
  /** start value of 1.DA by device index; absent: no line knows the devices by an address */
  readonly unitAddressOf?: ((index: number) => number) | undefined;
  readonly version: string;
}

interface Made {
  readonly template: DeviceTemplate;
  readonly at: SimTime;
}

export class DeviceFactory {
  readonly #options: FactoryOptions;
  /** a profile that nobody uses any more takes its template along */
  readonly #templates = new WeakMap<ProfileSpec, Map<Wiring, Made>>();

  constructor(options: FactoryOptions) {
    this.#options = options;
  }

  /** @throws SimError CONFIG_INVALID for a vehicle that comes to a connector which the station does not have */
  checkVisits({ profile: { source }, series }: DeviceSpec): void {
    if (series?.visits && source.kind === 'evse')
      checkVisits(
        series.visits,
        source.evse.connectors.map(({ connectorId }) => connectorId),
      );
  }

  /**
   * What devices of a profile share.
   * @throws SimError CONFIG_INVALID with every fault of the profile, named from its root
   */
  template({ profile, phases }: DeviceSpec, at: SimTime): DeviceTemplate {
    const byWiring = this.#templates.get(profile) ?? new Map<Wiring, Made>();
    this.#templates.set(profile, byWiring);
    const { context, nominalHz, simModels, unitAddressOf } = this.#options;
    const made = byWiring.get(phases) ?? {
      template: createTemplate(
        profile,
        phases,
        nominalHz,
        at,
        context.clock.wallMs(),
        simModels,
        unitAddressOf !== undefined,
      ),
      at,
    };
    byWiring.set(phases, made);
    return made.at === at ? made.template : { ...made.template, profilePoints: this.#stamped(made.template, at) };
  }

  /**
   * A settled device in the grid and weather of an instant.
   * @throws SimError CONFIG_INVALID with every fault of the profile; nothing of the device stays then
   */
  make(spec: DeviceSpec, index: number, at: SimTime): SimDevice {
    this.checkVisits(spec);
    const template = this.template(spec, at);
    const { context, places, version, unitAddressOf } = this.#options;
    const { name, deviceType, profileName } = spec;
    const identity = {
      index,
      name,
      deviceType,
      profileName,
      serialNumber: `DB-${String(index).padStart(6, '0')}`,
      version,
      ...(unitAddressOf && { unitAddress: unitAddressOf(index) }),
    };
    places.enter(index, spec);
    try {
      return new SimDevice(identity, template, { ...context, visits: spec.series?.visits ?? null }, at);
    } catch (error) {
      this.release(index);
      throw error;
    }
  }

  /** Forgets what surrounded a device. */
  release(index: number): void {
    this.#options.places.leave(index);
    this.#options.context.environment.clearLocal(index);
    this.#options.context.silent?.delete(index);
  }

  /** The points that the profile set, written when the device began. */
  #stamped({ profilePoints }: DeviceTemplate, at: SimTime): ReadonlyMap<PointSlot, Provenance> {
    const provenance: Provenance = { source: 'profile', at, wallMs: this.#options.context.clock.wallMs() };
    return new Map([...profilePoints.keys()].map((slot) => [slot, provenance]));
  }
}
