/** One device: an entry of `devices` in a configuration file, or a device that is added while the simulator runs. */
import { z } from 'zod';
import { isOcppId, isOcppUrl, ocppIdText, ocppUrlText, ocppVersionsSchema } from '../../contract/ocpp-settings.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import { isPrintable } from '../../core/log/log.ts';
import { bareName, bundledEvseProfileNames, bundledProfileNames } from './bundled.ts';
import { deviceProfileSchema } from './device-profile.ts';
import { deviceTypeNames } from './device-types.ts';
import { bareFaultListSchema, faultListSchema, pathText } from './fault-list.ts';

export const maxDevices = 10_000;

// control characters would reach logs and terminals; a blank name would be invisible
const printableName = z
  .string()
  .min(1, { abort: true })
  .max(64)
  .refine(
    (text) => isPrintable(text) && text.trim() !== '',
    'text of 1 to 64 characters without control characters, not blank',
  );

const identity = {
  device_type: z
    .enum(deviceTypeNames)
    .optional()
    .meta({ description: 'Type of the device; default the setting device_type.' }),
  name: printableName.optional().meta({ description: 'Display name.' }),
};

const stationId = z
  .string()
  .refine(isOcppId, ocppIdText)
  .meta({
    description: `Identity of the charge point: ${ocppIdText}; default from the setting ocpp_csid.`,
  });
const stationVersion = ocppVersionsSchema.meta({
  description: 'Version of OCPP, or several in the order of preference; default the setting ocpp_version.',
});
const stationUrl = z.string().refine(isOcppUrl, ocppUrlText);
const stationUrlText = 'Endpoint of the central system; default the setting ocpp_csms_url.';

/** An entry of `devices` in a file. */
export const deviceEntrySchema = z.strictObject({
  ...identity,
  profile: z.union([pathText, deviceProfileSchema]).optional().meta({
    description:
      'Bundled name, path, or an inline profile; default the setting f (EVSE: evse_profile), else the bundled profile of the type.',
  }),
  evse_profile: pathText.optional().meta({
    description:
      'Bundled name or path of an EVSE profile, instead of profile; without device_type the device is an EVSE.',
  }),
  dc_profile: pathText.optional().meta({
    description: 'CSV series for the DC side; default the setting dc_profile, else the bundled series of the kind.',
  }),
  load_profile: pathText
    .optional()
    .meta({ description: 'CSV series of the local load; default the setting load_profile.' }),
  vehicles: pathText
    .optional()
    .meta({ description: 'CSV table of the vehicles that arrive at an EVSE; default the setting vehicles.' }),
  faults: faultListSchema.optional().meta({
    description:
      'Faults that act on the device from the start: bundled names, paths, or faults that name no device; default none.',
  }),
  ocpp: z
    .strictObject({
      id: stationId.optional(),
      version: stationVersion.optional(),
      url: stationUrl.optional().meta({ description: stationUrlText }),
    })
    .optional()
    .meta({ description: 'OCPP settings of the charge point of an EVSE, in place of the common ones.' }),
  count: z.int().min(1).max(maxDevices).optional().meta({
    description: 'Number of devices of this entry; default 1. With a name, several devices are numbered from 1.',
  }),
});

export type DeviceEntry = z.infer<typeof deviceEntrySchema>;

const hostOf = (url: string) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');

const onlyInConfiguration = 'files can be named only in the configuration';

/** A member that entries in files have and requests may not have; its JSON Schema accepts no value. */
function refusedMember(reason: string) {
  return z
    .unknown()
    .refine(() => false, reason)
    .optional()
    .meta({ description: `Not allowed in a request: ${reason}.`, not: {} });
}

/** A bundled name as in flags, with or without the extension of the file. */
function bundledName(names: readonly string[], error?: string) {
  return z.preprocess(
    (value) => (typeof value === 'string' ? bareName(value) : value),
    z.enum(names as [string, ...string[]], error === undefined ? undefined : { error }),
  );
}

/** A profile in a request; its faults cannot name files. */
const addedProfileSchema = deviceProfileSchema
  .extend({ faults: bareFaultListSchema.optional().meta(deviceProfileSchema.shape.faults.meta() ?? {}) })
  .meta(deviceProfileSchema.meta() ?? {});

/** The device of a request: one at a time, and without files. */
export const addedDeviceSchema = z.strictObject({
  ...identity,
  profile: z
    .union([bundledName([...bundledProfileNames, ...bundledEvseProfileNames]), addedProfileSchema], {
      error: `must be the name of a bundled profile, or a profile; ${onlyInConfiguration}`,
    })
    .optional()
    .meta({
      description:
        'Bundled name, or an inline profile; default the settings f and evse_profile, else the bundled profile of the type.',
    }),
  evse_profile: bundledName(
    bundledEvseProfileNames,
    `must be the name of a bundled EVSE profile; ${onlyInConfiguration}`,
  )
    .optional()
    .meta({
      description: 'Bundled name of an EVSE profile, instead of profile; without device_type the device is an EVSE.',
    }),
  ocpp: z
    .strictObject({
      id: stationId.optional(),
      version: stationVersion.optional(),
      url: stationUrl
        .refine((text) => !isOcppUrl(text) || !isRefusedTarget(hostOf(text)), refusedTargetText)
        .optional()
        .meta({ description: `${stationUrlText} Outbound rules apply.` }),
    })
    .optional()
    .meta({ description: 'OCPP settings of the charge point of an EVSE, in place of the common ones.' }),
  dc_profile: refusedMember(onlyInConfiguration),
  load_profile: refusedMember(onlyInConfiguration),
  vehicles: refusedMember(onlyInConfiguration),
  faults: refusedMember('faults are added with POST /faults'),
  count: refusedMember('one device is added at a time'),
});

export type AddedDevice = Pick<DeviceEntry, 'device_type' | 'name' | 'profile' | 'evse_profile' | 'ocpp'>;
