import { memo } from '../../core/memo.ts';
import { addedDeviceSchema } from '../../config/profile/device-entry.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, integerParam, maxDeviceIndex } from '../common/schemas.ts';
import { exampleDevices } from './snapshot-schemas.ts';

export type { AddedDevice } from '../../config/profile/device-entry.ts';

/** The declaration is shared with the configuration: the entry of a device must mean the same in both. */
export const addDeviceBodySchema = memo(() =>
  z.strictObject(addedDeviceSchema.shape).openapi('AddedDevice', {
    description:
      'The device to add: an entry of `devices` of a configuration, without the members that name files. ' +
      'An empty object adds the device that the settings describe.',
  }),
);

export const deviceParamsSchema = memo(() =>
  z.strictObject({
    index: integerParam('index', 0, maxDeviceIndex, 'Device index, 0-based.'),
  }),
);

export const removedDeviceSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      device_count: z.int().min(0).openapi({ description: 'Remaining devices.' }),
    })
    .openapi('RemovedDevice'),
);

export const exampleAddedDevice = {
  device_type: 'Batt-3Phase',
  name: 'Cellar',
  profile: {
    models: { 702: { WMaxRtg: 100_000, VAMaxRtg: 100_000, VNomRtg: 480 } },
    battery: { capacity_wh: 200_000, soc_pct: 50, soc_min_pct: 10, soc_max_pct: 90 },
  },
};

const [present] = exampleDevices.devices;

export const exampleAddedEntry = {
  ...present,
  metrics: {
    ...present?.metrics,
    power_kw: 0,
    apparent_power_kva: 0,
    current_a: 0,
    dc_power_kw: 0,
    dc_voltage_v: 768,
    dc_current_a: 0,
    state_of_charge_pct: 50,
    soc_reserve_min_pct: 10,
    soc_reserve_max_pct: 90,
    soc_min_pct: 10,
    soc_max_pct: 90,
  },
  pq: { active_kw: 0, reactive_kvar: 0, apparent_kva: 0, angle_deg: 0 },
  dc_mode: 'battery',
  device_type: 'Batt-3Phase',
  device_profile_name: null,
  asset_type: 'battery',
  device_index: 3,
  name: 'Cellar',
  modbus: { host: '127.0.0.1', port: 8505, unit_id: 1, tls: false },
};
