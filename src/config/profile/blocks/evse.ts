import { z } from 'zod';
import type { Issue } from '../../../core/errors.ts';
import { evseConnectorStandards, evseConnectorTypes, evseSharingPolicies } from '../../../contract/kinds/evse.ts';
import type {
  ChargingCurvePoint,
  EvParameters,
  EvseConnectorParameters,
  EvseParameters,
  EvseVehicleParameters,
} from '../../../contract/kinds/evse.ts';

const watts = z.number().positive().max(1e8);
const percent = z.number().min(0).max(100);
const text = z.string().min(1).max(64);
const phases = z.union([z.literal(1), z.literal(3)]);
const curve = z
  .array(z.strictObject({ soc_pct: percent, fraction: z.number().min(0).max(1) }))
  .min(2)
  .max(100);
const efficiency = z.number().min(0.5).max(1);
const ampsPerSecond = z.number().min(0.1).max(1000);

const evSchema = z.strictObject({
  id: text.optional().meta({ description: 'Identifier of the vehicle; default none.' }),
  battery_capacity_wh: z
    .number()
    .min(1)
    .max(1e7)
    .optional()
    .meta({ description: 'Usable capacity of the battery, Wh; default 60000.' }),
  soc_pct: percent.optional().meta({ description: 'State of charge on arrival, %; default 30.' }),
  target_soc_pct: percent
    .optional()
    .meta({ description: 'State of charge at which the vehicle stops charging, %; default 100.' }),
  reserve_soc_pct: percent
    .optional()
    .meta({ description: 'State of charge that the vehicle needs at departure, %: V2G stops there; default 30.' }),
  ac_max_charge_w: watts
    .optional()
    .meta({ description: 'Rating of the on-board charger, W at the meter; default 11000.' }),
  dc_max_charge_w: watts.optional().meta({ description: 'Maximum DC charging power, W at the meter; default 150000.' }),
  max_discharge_w: z
    .number()
    .min(0)
    .max(1e8)
    .optional()
    .meta({ description: 'Maximum V2G power, W at the meter; default 50000.' }),
  phases: phases.optional().meta({ description: 'Phases of the on-board charger, 1 or 3; default 3.' }),
  battery_voltage_v: z
    .number()
    .min(50)
    .max(1360)
    .optional()
    .meta({ description: 'Voltage of the pack at half charge, V; default 400.' }),
  taper_soc_pct: z.number().min(0).max(99.9).optional().meta({
    description:
      'State of charge from which AC charging tapers linearly to zero at 100 %, %; default 80. Not beside charging_curve.',
  }),
  charging_curve: curve.optional().meta({
    description:
      'AC and DC charging power over state of charge, as fractions of the maximum, linear between the ' +
      'points; default the taper for AC and a fast-charge curve for DC.',
  }),
  ac_efficiency: efficiency
    .optional()
    .meta({ description: 'Efficiency from the meter into the battery, AC; default 0.92.' }),
  dc_efficiency: efficiency.optional().meta({
    description:
      'Efficiency from the meter into the battery, DC, including the converter of the station; default 0.95.',
  }),
  ac_ramp_a_per_s: ampsPerSecond
    .optional()
    .meta({ description: 'Rate at which the vehicle follows a new limit, AC, A/s per phase; default 8.' }),
  dc_ramp_a_per_s: ampsPerSecond
    .optional()
    .meta({ description: 'Rate at which the vehicle follows a new limit, DC, A/s; default 20.' }),
  end_of_charge_fraction: z.number().min(0).max(0.5).optional().meta({
    description: 'The vehicle stops charging when its curve falls to this fraction of the maximum; default 0.02.',
  }),
  departure_time: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: 'Planned departure, ISO 8601 with offset; default none. For display only.' }),
});

const connectorSchema = z.strictObject({
  type: z.enum(evseConnectorTypes).optional().meta({ description: 'ac or dc; default ac.' }),
  standard: z.enum(evseConnectorStandards).optional().meta({ description: 'Plug; default Type2, for dc CCS2.' }),
  max_power_w: watts.optional().meta({
    description:
      'Rating, W at the meter; default for ac current times phases times voltage, up to the rating of the station; for dc that rating.',
  }),
  max_current_a: z
    .number()
    .min(1)
    .max(5000)
    .optional()
    .meta({ description: 'Maximum current: for ac A per phase, default 32; for dc A of the cable, default 500.' }),
  phases: phases.optional().meta({ description: 'Phases of an AC connector, 1 or 3; default 3. For ac only.' }),
  min_current_a: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .meta({ description: 'A limit below this current per phase pauses charging, A; default 6. For ac only.' }),
  min_power_w: z.number().min(0).max(1e7).optional().meta({
    description: 'A limit below this power pauses charging, W; default 1000 for dc, for ac the power at min_current_a.',
  }),
  voltage_v: z
    .number()
    .min(50)
    .max(1000)
    .optional()
    .meta({ description: 'Nominal voltage of an AC connector, line to neutral, V; default 230. For ac only.' }),
  voltage_max_v: z
    .number()
    .min(50)
    .max(1500)
    .optional()
    .meta({
      description:
        'Maximum output voltage of a DC connector, V; at least 1.1 times battery_voltage_v of the vehicle ' +
        'that charges there; default 920. For dc only.',
    }),
  power_factor: z
    .number()
    .min(0.5)
    .max(1)
    .optional()
    .meta({ description: 'Power factor of AC charging; default 0.99. For ac only.' }),
  bidirectional: z
    .boolean()
    .optional()
    .meta({ description: 'True: vehicles may discharge here (V2G); default false.' }),
  max_discharge_w: watts
    .optional()
    .meta({ description: 'Rating of V2G, W at the meter; default max_power_w. For bidirectional only.' }),
  attached_cable: z
    .boolean()
    .optional()
    .meta({ description: 'True: the cable is fixed to the station; default false, for dc true.' }),
});

export const evseSchema = z
  .strictObject({
    vendor: text.optional().meta({ description: 'Manufacturer; default derbench.' }),
    model: text.optional().meta({ description: 'Model; default EVSE.' }),
    firmware_version: text.optional().meta({ description: 'Firmware version; default 1.0.0.' }),
    description: z.string().max(1000).optional().meta({ description: 'Description of the station; default none.' }),
    max_power_w: watts.optional().meta({ description: 'Maximum power of the whole station, W; default WMaxRtg.' }),
    sharing: z
      .enum(evseSharingPolicies)
      .optional()
      .meta({ description: 'How connectors share the power of the station; default proportional (to demand).' }),
    connectors: z.array(connectorSchema).min(1).max(20).optional().meta({
      description: 'Connectors, numbered from 1 in this order; default one three-phase AC connector of 32 A.',
    }),
    ev: evSchema.optional().meta({ description: 'Vehicle of the connectors for which vehicles has no entry.' }),
    vehicles: z
      .array(
        evSchema.extend({
          connector: z.number().int().min(1).max(20).meta({ description: 'Number of the connector.' }),
          plugged_at_start: z.boolean().optional().meta({
            description:
              'Whether the vehicle is plugged in at start; default true. With false it is plugged in by a later command.',
          }),
        }),
      )
      .max(20)
      .optional()
      .meta({
        description:
          'Vehicles of single connectors; omitted members are taken from ev. Default none: nothing is plugged in at start.',
      }),
    auto_authorize: z
      .boolean()
      .optional()
      .meta({ description: 'True: plugging in is enough to charge; default true.' }),
    standby_w: z
      .number()
      .min(0)
      .max(1000)
      .optional()
      .meta({ description: 'Consumption of the station itself, W; default 3.' }),
    start_delay_min_s: z.number().min(0).max(3600).optional().meta({
      description: 'Minimum time from authorisation to the first energy, s; default 3, at most start_delay_max_s.',
    }),
    start_delay_max_s: z.number().min(0).max(3600).optional().meta({
      description: 'Maximum time from authorisation to the first energy, s; default 15, at least start_delay_min_s.',
    }),
    connection_timeout_s: z
      .number()
      .min(1)
      .max(3600)
      .optional()
      .meta({ description: 'Time after which an authorisation without a vehicle ends, s; default 60.' }),
  })
  .meta({ description: 'Charging station and its vehicles. All powers are at the meter of the station.' });

export type EvseInput = z.infer<typeof evseSchema>;
type EvInput = z.infer<typeof evSchema>;
type ConnectorInput = z.infer<typeof connectorSchema>;

/** Default fast-charge curve: fraction of the peak over state of charge. */
const fastCharge: readonly ChargingCurvePoint[] = [
  { socPct: 0, fraction: 0.6 },
  { socPct: 5, fraction: 0.6 },
  { socPct: 10, fraction: 1 },
  { socPct: 35, fraction: 1 },
  { socPct: 50, fraction: 0.8 },
  { socPct: 65, fraction: 0.6 },
  { socPct: 80, fraction: 0.35 },
  { socPct: 90, fraction: 0.18 },
  { socPct: 100, fraction: 0.04 },
];

/** Full power up to a state of charge, then linear to zero at 100 %. */
function twoStage(taperSocPct: number): readonly ChargingCurvePoint[] {
  const flat = { socPct: taperSocPct, fraction: 1 };
  return [...(taperSocPct > 0 ? [{ socPct: 0, fraction: 1 }] : []), flat, { socPct: 100, fraction: 0 }];
}

function resolveCurve(
  input: NonNullable<EvInput['charging_curve']>,
  name: string,
  issues: Issue[],
): readonly ChargingCurvePoint[] {
  const points = input.map(({ soc_pct: socPct, fraction }) => ({ socPct, fraction }));
  const rises = points.every(({ socPct }, i) => i === 0 || socPct > (points[i - 1]?.socPct ?? 0));
  const stalls = points.some(({ fraction }, i) => fraction === 0 && i < points.length - 1);
  if (!rises || stalls) {
    issues.push({
      name,
      detail: `given ${JSON.stringify(input)}; allowed: soc_pct rising from point to point, fraction 0 in the last point only`,
    });
  }
  return points;
}

/** @param inherited members used where `input` has none */
function resolveEv(input: EvInput, inherited: EvInput, where: string, issues: Issue[]): EvParameters {
  const ev = { ...inherited, ...input };
  if (input.taper_soc_pct !== undefined && ev.charging_curve) {
    issues.push({
      name: `${where}.taper_soc_pct`,
      detail: `given ${input.taper_soc_pct}; allowed: only without charging_curve, which replaces it`,
    });
  }
  const curve = ev.charging_curve && resolveCurve(ev.charging_curve, `${where}.charging_curve`, issues);
  return {
    id: ev.id ?? null,
    batteryCapacityWh: ev.battery_capacity_wh ?? 60_000,
    socPct: ev.soc_pct ?? 30,
    targetSocPct: ev.target_soc_pct ?? 100,
    reserveSocPct: ev.reserve_soc_pct ?? 30,
    acMaxChargeW: ev.ac_max_charge_w ?? 11_000,
    dcMaxChargeW: ev.dc_max_charge_w ?? 150_000,
    maxDischargeW: ev.max_discharge_w ?? 50_000,
    phases: ev.phases ?? 3,
    batteryVoltageV: ev.battery_voltage_v ?? 400,
    acCurve: curve ?? twoStage(ev.taper_soc_pct ?? 80),
    dcCurve: curve ?? fastCharge,
    acEfficiency: ev.ac_efficiency ?? 0.92,
    dcEfficiency: ev.dc_efficiency ?? 0.95,
    acRampAPerS: ev.ac_ramp_a_per_s ?? 8,
    dcRampAPerS: ev.dc_ramp_a_per_s ?? 20,
    endOfChargeFraction: ev.end_of_charge_fraction ?? 0.02,
    departureTime: ev.departure_time ?? null,
  };
}

const acOnly = ['phases', 'min_current_a', 'voltage_v', 'power_factor'] as const;
const dcOnly = ['voltage_max_v'] as const;

/** Reports members for another type of connector, and V2G without bidirectional. */
function strayMembers(input: ConnectorInput, where: string, issues: Issue[]): void {
  const [otherMembers, otherType] = input.type === 'dc' ? ([acOnly, 'ac'] as const) : ([dcOnly, 'dc'] as const);
  const stray = [
    ...otherMembers.map((member) => [member, `type ${otherType}`] as const),
    ...(input.bidirectional === true ? [] : [['max_discharge_w', 'bidirectional true'] as const]),
  ];
  for (const [member, condition] of stray) {
    const value = input[member];
    if (value !== undefined)
      issues.push({ name: `${where}.${member}`, detail: `given ${value}; allowed: only with ${condition}` });
  }
}

function resolveConnector(input: ConnectorInput, connectorId: number, stationW: number): EvseConnectorParameters {
  const type = input.type ?? 'ac';
  const ac = type === 'ac';
  const phaseCount = ac ? (input.phases ?? 3) : 1;
  const maxCurrentA = input.max_current_a ?? (ac ? 32 : 500);
  const minCurrentA = ac ? (input.min_current_a ?? 6) : 0;
  const voltageV = ac ? (input.voltage_v ?? 230) : (input.voltage_max_v ?? 920);
  const powerFactor = ac ? (input.power_factor ?? 0.99) : 1;
  const maxPowerW = input.max_power_w ?? (ac ? Math.min(stationW, phaseCount * voltageV * maxCurrentA) : stationW);
  const bidirectional = input.bidirectional ?? false;
  return {
    connectorId,
    type,
    maxPowerW,
    maxCurrentA,
    phases: phaseCount,
    minCurrentA,
    voltageV,
    powerFactor,
    bidirectional,
    standard: input.standard ?? (ac ? 'Type2' : 'CCS2'),
    minPowerW: input.min_power_w ?? (ac ? phaseCount * voltageV * minCurrentA * powerFactor : 1000),
    maxDischargeW: bidirectional ? (input.max_discharge_w ?? maxPowerW) : 0,
    attachedCable: input.attached_cable ?? !ac,
  };
}

function resolveVehicles(
  input: EvseInput,
  connectorCount: number,
  where: string,
  issues: Issue[],
): EvseVehicleParameters[] {
  const connectors = new Set<number>();
  return (input.vehicles ?? []).map(({ connector, plugged_at_start: plugged, ...ev }, i) => {
    const name = `${where}: evse.vehicles[${i}].connector`;
    if (connector > connectorCount)
      issues.push({
        name,
        detail: `given ${connector}; allowed: 1..${connectorCount}, the connectors of this station`,
      });
    if (connectors.has(connector))
      issues.push({ name, detail: `given ${connector} a second time; allowed: one vehicle per connector` });
    connectors.add(connector);
    const resolved = resolveEv(ev, input.ev ?? {}, `${where}: evse.vehicles[${i}]`, issues);
    return { connectorId: connector, ev: resolved, pluggedAtStart: plugged ?? true };
  });
}

/** Reports DC connectors below the voltage of a full pack, which is 1.1 times the voltage at half charge. */
function checkVoltages({ connectors, vehicles, ev }: EvseParameters, where: string, issues: Issue[]): void {
  for (const [i, { type, connectorId, voltageV }] of connectors.entries()) {
    const vehicle = vehicles.find((entry) => entry.connectorId === connectorId)?.ev ?? ev;
    const fullV = vehicle.batteryVoltageV + vehicle.batteryVoltageV / 10;
    if (type === 'ac' || voltageV >= fullV) continue;
    issues.push({
      name: `${where}: evse.connectors[${i}].voltage_max_v`,
      detail:
        `given or derived ${voltageV}; allowed: at least ${Math.ceil(fullV)}, 1.1 times battery_voltage_v of ` +
        `its vehicle, which is ${vehicle.batteryVoltageV}`,
    });
  }
}

/**
 * Fills in the defaults of the block.
 * @param ratedW WMaxRtg, W
 * @param where prefix of the key in an issue
 * @param issues receives errors across members
 */
export function resolveEvse(input: EvseInput, ratedW: number, where: string, issues: Issue[]): EvseParameters {
  const maxPowerW = input.max_power_w ?? ratedW;
  const connectors = (input.connectors ?? [{}]).map((connector, i) => {
    strayMembers(connector, `${where}: evse.connectors[${i}]`, issues);
    return resolveConnector(connector, i + 1, maxPowerW);
  });
  const startDelayMinS = input.start_delay_min_s ?? Math.min(3, input.start_delay_max_s ?? 3);
  const startDelayMaxS = input.start_delay_max_s ?? Math.max(15, startDelayMinS);
  if (startDelayMinS > startDelayMaxS) {
    issues.push({
      name: `${where}: evse.start_delay_min_s`,
      detail: `given ${startDelayMinS}; allowed: up to start_delay_max_s, which is ${startDelayMaxS}`,
    });
  }
  connectors.forEach(({ minPowerW, maxPowerW: ratingW }, i) => {
    if (minPowerW <= ratingW) return;
    issues.push({
      name: `${where}: evse.connectors[${i}].max_power_w`,
      detail: `given or derived ${ratingW}; allowed: at least the minimum power, which is ${minPowerW}`,
    });
  });
  const evse: EvseParameters = {
    vendor: input.vendor ?? 'derbench',
    model: input.model ?? 'EVSE',
    firmwareVersion: input.firmware_version ?? '1.0.0',
    description: input.description ?? null,
    maxPowerW,
    sharing: input.sharing ?? 'proportional',
    connectors,
    ev: resolveEv(input.ev ?? {}, {}, `${where}: evse.ev`, issues),
    vehicles: resolveVehicles(input, connectors.length, where, issues),
    autoAuthorize: input.auto_authorize ?? true,
    standbyW: input.standby_w ?? 3,
    startDelayMinS,
    startDelayMaxS,
    connectionTimeoutS: input.connection_timeout_s ?? 60,
  };
  checkVoltages(evse, where, issues);
  return evse;
}
