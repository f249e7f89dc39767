/** One device: an entry of `devices` in a configuration file, or a device that is added while the simulator runs. */
import { z } from 'zod';
import { connectionPointIdPattern, connectionPointIdText, hasCheckDigit } from '../../contract/csip-settings.ts';
import { deviceProtocols } from '../../contract/device-protocols.ts';
import { dnp3Profiles, maxDnp3Address } from '../../contract/dnp3-settings.ts';
import { maxUnitId } from '../../contract/modbus-report.ts';
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

const maxPort = 65_535;
const maxPin = 999_999;
const lfdiPattern = /^[0-9A-Fa-f]{40}$/;

/** Blocks of protocols, equal in files and requests but for the URL of OCPP. */
const blockShapes = {
  ocpp: {
    id: stationId.optional(),
    version: stationVersion.optional(),
    url: stationUrl.optional().meta({ description: stationUrlText }),
    auto_authorize: z.boolean().optional().meta({
      description: 'True: plugging in presents the token AUTO; default the setting ocpp_auto_authorize.',
    }),
  },
  csip: {
    nmi: z.string().regex(connectionPointIdPattern, { error: connectionPointIdText }).optional().meta({
      description: 'Identifier of its connection point (NMI) for CSIP-AUS; default from the setting csip_nmi.',
    }),
    lfdi: z.string().regex(lfdiPattern, { error: '40 hexadecimal digits' }).optional().meta({
      description:
        'LFDI behind an aggregator, as the server has registered it; default from the setting csip_lfdi, else derived.',
    }),
    pin: z
      .int()
      .min(0)
      .max(maxPin)
      .refine(hasCheckDigit, { error: '5 digits and their check digit, for example 111115' })
      .optional()
      .meta({
        description:
          'PIN with its check digit that its Registration must show; default the setting csip_pin. Never shown.',
      }),
  },
  dnp3: {
    address: z.int().min(0).max(maxDnp3Address).optional().meta({
      description: 'Link address of its outstation; default from the setting dnp3_outstation_addr.',
    }),
    port: z.int().min(1).max(maxPort).optional().meta({
      description:
        'TCP port of its outstation; default from the setting dnp3_port. Without effect with dnp3_shared_port.',
    }),
    profile: z
      .enum(dnp3Profiles)
      .optional()
      .meta({ description: 'Point map of its outstation; default the setting dnp3_profile.' }),
  },
  modbus: {
    port: z.int().min(1).max(maxPort).optional().meta({
      description: 'Its Modbus TCP port; default from the setting mb_port. Without effect with mb_shared_port.',
    }),
    unit_id: z
      .int()
      .min(1)
      .max(maxUnitId)
      .optional()
      .meta({
        description:
          'Its unit id on a port for several devices (mb_shared_port); default 1 and its index. Without effect with RTU ' +
          'frames, where 1.DA has the address.',
      }),
  },
} as const;

const blockTexts = {
  ocpp: 'OCPP settings of the charge point of an EVSE, in place of the common ones.',
  csip: 'Identities of the device in IEEE 2030.5, in place of the settings csip_nmi, csip_lfdi and csip_pin.',
  dnp3: 'Address, port and point map of its outstation, in place of the common ones.',
  modbus: 'Its place at the Modbus TCP listeners, in place of the one that follows from its index.',
} as const;

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
  ocpp: z.strictObject(blockShapes.ocpp).optional().meta({ description: blockTexts.ocpp }),
  csip: z.strictObject(blockShapes.csip).optional().meta({ description: blockTexts.csip }),
  dnp3: z.strictObject(blockShapes.dnp3).optional().meta({ description: blockTexts.dnp3 }),
  modbus: z.strictObject(blockShapes.modbus).optional().meta({ description: blockTexts.modbus }),
  count: z.int().min(1).max(maxDevices).optional().meta({
    description: 'Number of devices of this entry; default 1. With a name, several devices are numbered from 1.',
  }),
});

export type DeviceEntry = z.infer<typeof deviceEntrySchema>;

/** The host of a URL without the brackets of IPv6. */
export const hostOf = (url: string) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');

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

const addedShapes = {
  ...blockShapes,
  ocpp: {
    ...blockShapes.ocpp,
    url: stationUrl
      .refine((text) => !isOcppUrl(text) || !isRefusedTarget(hostOf(text)), refusedTargetText)
      .optional()
      .meta({ description: `${stationUrlText} Outbound rules apply.` }),
  },
};

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
  ocpp: z.strictObject(addedShapes.ocpp).optional().meta({ description: blockTexts.ocpp }),
  csip: z.strictObject(addedShapes.csip).optional().meta({ description: blockTexts.csip }),
  dnp3: z.strictObject(addedShapes.dnp3).optional().meta({ description: blockTexts.dnp3 }),
  modbus: z.strictObject(addedShapes.modbus).optional().meta({ description: blockTexts.modbus }),
  dc_profile: refusedMember(onlyInConfiguration),
  load_profile: refusedMember(onlyInConfiguration),
  vehicles: refusedMember(onlyInConfiguration),
  faults: refusedMember('faults are added with POST /faults'),
  count: refusedMember('one device is added at a time'),
});

export type AddedDevice = Pick<
  DeviceEntry,
  'device_type' | 'name' | 'profile' | 'evse_profile' | 'ocpp' | 'csip' | 'dnp3' | 'modbus'
>;

/** A member of a change: null takes it back to its default. */
function orDefault<S extends z.ZodType>(schema: z.ZodOptional<S>) {
  const { description = '' } = schema.meta() ?? {};
  return schema
    .unwrap()
    .nullable()
    .optional()
    .meta({ description: `${description} Null: the default.` });
}

type OrDefault<Shape> = {
  [Name in keyof Shape]: Shape[Name] extends z.ZodOptional<infer S extends z.ZodType>
    ? ReturnType<typeof orDefault<S>>
    : never;
};

const shapeOrDefault = <Shape extends Readonly<Record<string, z.ZodOptional<z.ZodType>>>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, orDefault(schema)])) as OrDefault<Shape>;

/** Changes of a device: absent members stay. */
export const changedDeviceSchema = z.strictObject({
  device_type: orDefault(addedDeviceSchema.shape.device_type),
  name: orDefault(addedDeviceSchema.shape.name),
  profile: orDefault(addedDeviceSchema.shape.profile),
  evse_profile: orDefault(addedDeviceSchema.shape.evse_profile),
  ocpp: orDefault(z.strictObject(shapeOrDefault(addedShapes.ocpp)).optional().meta({ description: blockTexts.ocpp })),
  csip: orDefault(z.strictObject(shapeOrDefault(addedShapes.csip)).optional().meta({ description: blockTexts.csip })),
  dnp3: orDefault(z.strictObject(shapeOrDefault(addedShapes.dnp3)).optional().meta({ description: blockTexts.dnp3 })),
  modbus: orDefault(
    z.strictObject(shapeOrDefault(addedShapes.modbus)).optional().meta({ description: blockTexts.modbus }),
  ),
});

export type ChangedDevice = z.infer<typeof changedDeviceSchema>;

const isPresent = (value: unknown) => value !== undefined && value !== null;

/** Members without those that are absent or null. */
function present(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isPresent(value)));
}

/** An entry with the members of a change. A profile of one form takes the place of one of the other form. */
export function changedEntry(entry: DeviceEntry, change: ChangedDevice): DeviceEntry {
  const blocks = deviceProtocols.map((name): [string, unknown] => {
    const former: Readonly<Record<string, unknown>> = entry[name] ?? {};
    const members = change[name] === null ? {} : present({ ...former, ...change[name] });
    return [name, Object.keys(members).length === 0 ? undefined : members];
  });
  return present({
    ...entry,
    ...(isPresent(change.profile) && { evse_profile: undefined }),
    ...(isPresent(change.evse_profile) && { profile: undefined }),
    ...change,
    ...Object.fromEntries(blocks),
  });
}
