/** Random commands and sub-steps of a station with three connectors. */
import fc from 'fast-check';
import { evseErrorCodes } from '../../../../src/contract/kinds/evse.ts';
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import { real } from '../../../support/arbitrary.ts';

export const connectorId = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(1, 2, 2, 3) },
  { weight: 1, arbitrary: fc.constantFrom(0, 4) },
);
export const powerW = fc.oneof(fc.constant(null), real(-1000, 80_000), fc.constantFrom(0, NaN));
const token = fc.constantFrom('A', 'B', 'AUTO', '');
const patch = fc.record(
  {
    socPct: real(-5, 105),
    targetSocPct: real(0, 100),
    maxChargeW: real(-1, 300_000),
    batteryCapacityWh: real(0, 100_000),
    maxDischargeW: real(0, 60_000),
    phases: fc.constantFrom(1, 3),
  },
  { requiredKeys: [] },
);
const by = fc.constantFrom('ev', 'evse');

/** Commands of connectors, some of them with values that are refused. */
export const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('evse.plug'),
      connectorId,
      ev: fc.option(patch, { nil: undefined, freq: 2 }),
    }),
  },
  fc.record({ kind: fc.constantFrom('evse.unplug', 'evse.clear_fault', 'evse.lock', 'evse.unlock'), connectorId }),
  fc.record({ kind: fc.constant('evse.plug'), connectorId, evSide: fc.boolean(), evseSide: fc.boolean() }),
  fc.record({ kind: fc.constant('evse.authorize'), connectorId, idToken: token }),
  fc.record({
    kind: fc.constant('evse.start'),
    connectorId,
    idToken: fc.option(token, { nil: undefined }),
    authorize: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('evse.stop'), connectorId }),
  fc.record({ kind: fc.constantFrom('evse.suspend', 'evse.resume'), connectorId, by }),
  fc.record({ kind: fc.constantFrom('evse.limit', 'evse.discharge'), connectorId, powerW }),
  fc.record({
    kind: fc.constant('evse.energy_limit'),
    connectorId,
    energyWh: fc.option(real(0, 5000)),
  }),
  fc.record({ kind: fc.constant('evse.availability'), connectorId, operative: fc.boolean() }),
  fc.record({ kind: fc.constant('evse.fault'), connectorId, errorCode: fc.constantFrom(...evseErrorCodes, 'NoError') }),
  fc.record({ kind: fc.constant('evse.ev'), connectorId, ev: patch }),
  fc.record({
    kind: fc.constant('evse.profile_limit'),
    connectorId,
    limitW: powerW,
    limitA: fc.oneof(fc.constant(null), real(0, 40)),
  }),
  fc.record({
    kind: fc.constant('evse.reserve'),
    connectorId,
    reservation: fc.option(
      fc.record({
        reservationId: fc.integer(),
        idToken: token,
        expiresInS: fc.option(real(0, 100)),
      }),
    ),
  }),
) as fc.Arbitrary<EvseCommand>;

const dcW = real(-120_000, 60_000);
/** Sub-steps under set-points and limits of the device. */
export const stepping = fc.record({
  seconds: fc.constantFrom<number>(0.02, 0.5, 5, 60, 600, 3600),
  targetW: fc.option(dcW, { freq: 2 }),
  floorW: fc.oneof(fc.constant(-1e6), real(-120_000, 0)),
  ceilingW: fc.oneof(fc.constant(1e6), fc.constant(1e6), real(-3000, 60_000)),
  bend: real(0, 1),
  mode: fc.constantFrom('answer', 'answer', 'answer', 'bend', 'open'),
  terminalPu: fc.constantFrom<number>(1, 1, 1, 0.9, 1.1, 0),
});

export type Stepping = typeof stepping extends fc.Arbitrary<infer T> ? T : never;
