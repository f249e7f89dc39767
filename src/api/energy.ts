/** Energies of the site or of one device, today and since the start. */
import type { DeviceEnergy, EnergyCount, EnergySums, SiteEnergy } from '../contract/energy.ts';
import { count, inKilo, member, members, nested, time } from './common/members.ts';
import { deviceIndex, deviceParam } from './common/schemas.ts';
import { z } from './description/zod.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const energyCount = members<EnergyCount>()('EnergyCount', () => ({
  produced_kwh: inKilo('Into the grid, at the terminals.', ({ producedWh }) => producedWh),
  absorbed_kwh: inKilo('Out of the grid, at the terminals.', ({ absorbedWh }) => absorbedWh),
  load_kwh: inKilo('Local load.', ({ loadWh }) => loadWh),
}));

const energyByKind = members<EnergySums['byKind']>()('EnergyByKind', () => ({
  pv: nested(energyCount).optional(),
  battery: nested(energyCount).optional(),
  wind: nested(energyCount).optional(),
  fuelcell: nested(energyCount).optional(),
  'hybrid-dc': nested(energyCount).optional(({ 'hybrid-dc': hybrid }) => hybrid),
  evse: nested(energyCount).optional(),
}));

const energySpan = members<EnergyCount & Partial<EnergySums>>()('EnergySpan', () => ({
  ...energyCount.members(),
  exported_kwh: inKilo.orNull(
    'Into the grid at the connection point, net of all devices and loads; null: of one device.',
    ({ exportedWh }) => exportedWh,
  ),
  imported_kwh: inKilo.orNull('Out of the grid there; null: of one device.', ({ importedWh }) => importedWh),
  by_kind: nested(energyByKind).orNull('By kind of device; null: of one device.'),
}));

interface Answer {
  readonly energy: SiteEnergy | DeviceEnergy;
  readonly index: number | null;
  readonly tick: number;
  readonly simMs: number;
}

const energy = members<Answer>()('EnergyReply', () => ({
  tick: count(),
  sim_time: time('Simulated time of the answer.', ({ simMs }) => simMs),
  device_index: member(() => deviceIndex).orNull('Null: the site.', ({ index }) => index),
  today: nested(energySpan)(
    'Since midnight of the simulated clock in its zone. A clock set back takes nothing away.',
    ({ energy: of }) => of.today,
  ),
  since_start: nested(energySpan)(
    'Since the start, or with a state folder since the first one.',
    ({ energy: of }) => of.sinceStart,
  ),
}));

export const energyRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/energy',
    tag: 'Core',
    operationId: 'get_energy',
    summary: 'Energies of the site or of a device, today and since the start',
    description:
      'Counted in each sub-step. `produced_kwh`, `absorbed_kwh` and `load_kwh` of the site are the sums of all devices, those ' +
      'that have left included; export and import are netted over whole seconds, over longer pieces of a tick where the ' +
      'connection point has no meter.',
    query: z.strictObject({
      device: deviceParam.optional().openapi({ description: 'Only the device of this index; default: the site.' }),
    }),
    reply: energy.schema,
    handle({ plant }, { query: { device: index } }) {
      return energy.reply({
        energy: index === undefined ? plant.energy : plant.energyOf(index),
        index: index ?? null,
        tick: plant.latest.tick,
        simMs: plant.dateMs(plant.now),
      });
    },
  }),
];
