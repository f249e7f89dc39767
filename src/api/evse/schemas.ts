/** Replies of charging stations. */
import { memo } from '../../core/memo.ts';
import {
  evseAuthorities,
  evseChargingStates,
  evseConnectorStandards,
  evseConnectorTypes,
  evseErrorCodes,
  evseLimitSources,
  evseSessionStates,
  evseSharingPolicies,
  ocpp16Statuses,
  ocpp201Statuses,
} from '../../contract/kinds/evse.ts';
import { status } from '../charge-points/members.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, integerParam, isoTime, quantity } from '../common/schemas.ts';
import { activeDeciderSchema } from '../grid-support/trace-schemas.ts';
import { writerSchema } from '../common/writer-schemas.ts';

const chargingCurveSchema = memo(() =>
  z.array(z.strictObject({ soc_pct: z.number(), fraction: z.number() })).openapi({
    description: 'Maximum power over the state of charge, as a fraction of `max_charge_kw`, linear between the points.',
  }),
);

export const evSchema = memo(() =>
  z
    .strictObject({
      id: z.string().nullable(),
      battery_capacity_kwh: z.number(),
      soc_pct: z.number(),
      target_soc_pct: z.number().openapi({ description: 'State of charge at which charging stops.' }),
      reserve_soc_pct: z
        .number()
        .openapi({ description: 'State of charge that the vehicle needs at departure: discharging stops here.' }),
      max_charge_kw: z.number(),
      max_discharge_kw: z.number(),
      phases: z.int().openapi({ description: 'Of the on-board charger.' }),
      charging_curve: chargingCurveSchema(),
      departure_time: z.string().nullable().openapi({ description: 'As given; it has no effect.' }),
    })
    .openapi('ElectricVehicle'),
);

export const sessionSchema = z
  .strictObject({
    transaction_id: z.string().openapi({
      description:
        'With OCPP that of the central system, until it has told one `local-` and `session_id`; without OCPP `session_id`.',
    }),
    session_id: z.string().openapi({
      description: 'Unique within its charge point, also after a reset of the device; each charge point counts from 1.',
    }),
    charge_point_id: z.string(),
    connector_id: z.int(),
    state: z.enum(evseSessionStates).openapi({ description: '`starting`: authorised, no energy yet.' }),
    id_token: z.string().nullable().openapi({ description: '`AUTO`: authorised by plugging in.' }),
    remote_start_id: z.int().nullable(),
    reservation_id: z.int().nullable().openapi({ description: 'The reservation that the session used up.' }),
    started_at: isoTime.openapi({ description: 'Simulated time.' }),
    ended_at: isoTime.nullable(),
    meter_start_wh: z.number(),
    energy_wh: z.number().openapi({ description: 'Into the vehicle.' }),
    energy_discharged_wh: z.number(),
    stop_reason: z.string().nullable(),
    offline: z.boolean().openapi({ description: 'Messages to the central system are still waiting.' }),
    charging_state: z.enum(evseChargingStates).openapi({ description: 'Of the transaction in OCPP 2.x.' }),
  })
  .openapi('ChargingSession');

export const connectorSchema = memo(() =>
  z
    .strictObject({
      connector_id: z.int(),
      evse_id: z.int().openapi({ description: 'EVSE of OCPP 2.x, of which this is connector 1.' }),
      type: z.enum(evseConnectorTypes),
      standard: z.enum(evseConnectorStandards),
      max_power_kw: z.number(),
      min_power_kw: z
        .number()
        .openapi({ description: 'A limit below this power pauses charging; for the phases that the vehicle uses.' }),
      phases: z.int(),
      supply_phases: z.array(z.int().min(1).max(3)).openapi({
        description:
          'Phases of the supply that carry the current, 1 to 3 = L1 to L3; without a vehicle those it may use; empty for DC.',
      }),
      bidirectional: z.boolean(),
      status: z.enum(ocpp16Statuses).openapi({ description: 'OCPP 1.6.' }),
      status_ocpp_2: z.enum(ocpp201Statuses).openapi({ description: 'OCPP 2.x.' }),
      error_code: z.enum(['NoError', ...evseErrorCodes]),
      error_info: z.string().nullable(),
      vendor_error_code: z.string().nullable(),
      operative: z.boolean(),
      authorized: z.boolean(),
      contactor_closed: z.boolean(),
      cable: z.strictObject({ ev_plugged: z.boolean(), evse_plugged: z.boolean(), locked: z.boolean() }),
      ev: evSchema().nullable(),
      session: sessionSchema.nullable().openapi({ description: 'The last one of the vehicle, until it is unplugged.' }),
      power_kw: z.number().openapi({ description: 'Positive into the vehicle.' }),
      current_a: z.array(z.number()).openapi({ description: 'Per phase (AC), one value (DC).' }),
      voltage_v: z.number().openapi({ description: 'Line to neutral (AC); 0 with the contactor open (DC).' }),
      energy_wh: z.number().openapi({ description: 'Meter: into vehicles since the start.' }),
      energy_export_wh: z.number().openapi({ description: 'Meter: out of vehicles.' }),
      wanted_kw: z.number().openapi({ description: 'Power that the vehicle would take without limits.' }),
      possible_kw: z.number().openapi({ description: 'Power that the hardware can carry now.' }),
      allocated_kw: z.number().openapi({
        description:
          'Power that the vehicle may take now: after sharing, profiles, local limit, functions of the device and site.',
      }),
      limit_kw: z.number().openapi({ description: 'The limit in force.' }),
      limit_source: z.enum(evseLimitSources).openapi({
        description:
          'Source of the limit in force; `der`: a grid-support function or the service state of the device, `site`: its connection point.',
      }),
      local_limit_kw: quantity('Local limit of charging; null: none.'),
      local_limit_by: writerSchema.nullable().openapi({ description: 'Last writer; null: no limit.' }),
      discharge_kw: quantity('Discharge asked for; null: none.'),
      discharge_by: writerSchema.nullable().openapi({ description: 'Last writer; null: no discharge.' }),
      reservation: z
        .strictObject({
          reservation_id: z.int(),
          id_token: z.string(),
          expires_at: isoTime.nullable(),
        })
        .openapi('Reservation')
        .nullable(),
    })
    .openapi('Connector'),
);

export const evseSchema = memo(() =>
  z
    .strictObject({
      id: z.string().openapi({ description: 'Charge point identity.' }),
      device_index: deviceIndex,
      profile: z.string().nullable(),
      vendor: z.string(),
      model: z.string(),
      serial_number: z.string().nullable(),
      firmware_version: z.string(),
      ocpp: status.schema().nullable().openapi({ description: 'Charge point of OCPP; null: OCPP is switched off.' }),
      max_power_kw: z.number(),
      power_kw: z.number().openapi({ description: 'Into all vehicles together.' }),
      standby_kw: z.number().openapi({ description: 'Consumption of the station itself.' }),
      energy_wh: z.number().openapi({ description: 'Taken from the grid, standby included.' }),
      energy_export_wh: z.number(),
      sharing: z.enum(evseSharingPolicies),
      authority: z
        .enum(evseAuthorities)
        .openapi({ description: 'Decides whether a token may charge: the station, or a central system.' }),
      external_limit: z
        .strictObject({
          limit_kw: z.number().openapi({ description: 'Maximum consumption of the station, from 0.' }),
          decided_by: activeDeciderSchema.openapi({ description: 'Function or limit that sets it.' }),
          changed_by: writerSchema
            .nullable()
            .openapi({ description: 'Last writer of the points behind it; null: they have none.' }),
        })
        .nullable()
        .openapi({
          description:
            'What keeps the consumption below `max_power_kw` from outside, whether or not vehicles want more; null: nothing.',
        }),
      battery: z
        .strictObject({ capacity_kwh: z.number(), soc_pct: z.number() })
        .nullable()
        .openapi({ description: 'All plugged vehicles together; null: there are none.' }),
      connectors: z.array(connectorSchema()),
    })
    .openapi('ChargingStation'),
);

export const evsesSchema = memo(() => z.strictObject({ evses: z.array(evseSchema()) }).openapi('ChargingStations'));
export const connectorsSchema = memo(() =>
  z.strictObject({ connectors: z.array(connectorSchema()) }).openapi('Connectors'),
);
export const sessionsSchema = memo(() =>
  z
    .strictObject({
      sessions: z.array(sessionSchema).openapi({ description: 'Newest first; each station keeps its last 200.' }),
    })
    .openapi('ChargingSessions'),
);

export const profilesSchema = memo(() =>
  z
    .strictObject({
      profiles: z.array(
        z
          .strictObject({
            name: z.string(),
            description: z.string().nullable(),
            connectors: z.array(
              z.strictObject({
                connector_id: z.int(),
                type: z.enum(evseConnectorTypes),
                standard: z.enum(evseConnectorStandards),
                max_power_kw: z.number(),
                bidirectional: z.boolean(),
              }),
            ),
            max_power_kw: z.number().openapi({ description: 'Of the whole station.' }),
            battery_kwh: z.number().openapi({ description: 'Of the vehicle that arrives where no other is named.' }),
            v2g: z.boolean().openapi({ description: 'At least one connector is bidirectional.' }),
            bundled: z.boolean().openapi({ description: 'Comes with the simulator.' }),
          })
          .openapi('ChargingStationProfile'),
      ),
    })
    .openapi('ChargingStationProfiles'),
);

export const stationParams = z.strictObject({
  id: z.string().openapi({
    param: { name: 'id' },
    description:
      'Charge point identity, URL-encoded, case-sensitive; where no station has it, the index of its device.',
  }),
});

/** Maximum connector number in a path; below it, a number that the station does not have is a 404. */
const maxConnectorId = 999_999_999;

export const connectorParams = z.strictObject({
  ...stationParams.shape,
  cid: integerParam('cid', 1, maxConnectorId, 'Connector number, from 1.'),
});

export const sessionsQuerySchema = z.strictObject({
  state: z
    .enum(evseSessionStates)
    .optional()
    .openapi({ param: { name: 'state' }, description: 'Only sessions in this state; default all.' }),
  limit: integerParam('limit', 1, 1000, 'Most entries; default 100.').optional(),
});

export type EvReply = z.output<ReturnType<typeof evSchema>>;
export type EvsesReply = z.output<ReturnType<typeof evsesSchema>>;
export type SessionsReply = z.output<ReturnType<typeof sessionsSchema>>;
export type SessionReply = z.output<typeof sessionSchema>;
export type ConnectorReply = z.output<ReturnType<typeof connectorSchema>>;
export type EvseReply = z.output<ReturnType<typeof evseSchema>>;
export type ProfileReply = z.output<ReturnType<typeof profilesSchema>>['profiles'][number];
