/** Tables of transactions: points, charging states, reasons and triggers (E01, E06). */
import { expect } from 'chai';
import { evsePhases } from '../../../../src/contract/kinds/evse.ts';
import type { EvseConnectorDetail, EvsePhase } from '../../../../src/contract/kinds/evse.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import { createAuthorization } from '../../../../src/ocpp/v201/authorization/authorization.ts';
import type { AuthorizationDeps } from '../../../../src/ocpp/v201/authorization/authorization.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import {
  chargingStateOf,
  pointChange,
  pointsOf,
  starts,
  stops,
  faultReason,
  reasonIn,
  triggerIn,
  whyOf,
} from '../../../../src/ocpp/v201/transactions/reasons.ts';
import type { TxPoint } from '../../../../src/ocpp/v201/transactions/reasons.ts';
import { rig } from '../rig.ts';

const sessionPhases: readonly EvsePhase[] = ['authorised', 'starting', 'energised', 'detached', 'resuming'];
const isAuthorised = (phase: EvsePhase) => sessionPhases.includes(phase) || phase.startsWith('suspended');

function connectorIn(phase: EvsePhase, more: Partial<EvseConnectorDetail> = {}): EvseConnectorDetail {
  const away = phase === 'free' || phase === 'authorised' || phase === 'detached';
  const made = { phase, errorCode: 'NoError', authorised: isAuthorised(phase), ev: away ? null : {}, ...more };
  return made as unknown as EvseConnectorDetail;
}

/** Points and charging state of each phase of the device. */
const phases: Readonly<Record<EvsePhase, readonly [points: string, state: string]>> = {
  free: ['', 'Idle'],
  authorised: ['Authorized', 'Idle'],
  connected: ['ParkingBayOccupancy,EVConnected', 'EVConnected'],
  starting: ['ParkingBayOccupancy,EVConnected,Authorized,PowerPathClosed', 'EVConnected'],
  energised: ['ParkingBayOccupancy,EVConnected,Authorized,PowerPathClosed,EnergyTransfer', 'Charging'],
  suspended_ev: ['ParkingBayOccupancy,EVConnected,Authorized,PowerPathClosed', 'SuspendedEV'],
  suspended_evse: ['ParkingBayOccupancy,EVConnected,Authorized,PowerPathClosed', 'SuspendedEVSE'],
  suspended_both: ['ParkingBayOccupancy,EVConnected,Authorized,PowerPathClosed', 'SuspendedEVSE'],
  detached: ['Authorized', 'Idle'],
  resuming: ['ParkingBayOccupancy,EVConnected,Authorized,PowerPathClosed', 'EVConnected'],
  finishing: ['ParkingBayOccupancy,EVConnected', 'EVConnected'],
};

describe('OCPP 2.x points of transactions (E01)', () => {
  for (const phase of evsePhases)
    it(`phase ${phase}: ${phases[phase].join(' and ')}`, () => {
      const connector = connectorIn(phase);
      expect([[...pointsOf(connector)].join(','), chargingStateOf(connector)]).to.deep.equal(phases[phase]);
    });

  it('a fault holds the energy: SuspendedEVSE, and no EnergyTransfer', () => {
    const connector = connectorIn('energised', { errorCode: 'GroundFailure' });
    expect(chargingStateOf(connector)).to.equal('SuspendedEVSE');
    expect(pointsOf(connector).has('EnergyTransfer')).to.equal(false);
  });

  const points = (...names: TxPoint[]): ReadonlySet<TxPoint> => new Set(names);

  it('a start point starts when it begins to hold, and with a token where it holds already', () => {
    const cable = points('EVConnected');
    const both = points('EVConnected', 'Authorized', 'PowerPathClosed');
    expect(starts(['EVConnected'], cable, pointChange(points(), cable))).to.equal(true);
    expect(starts(['EVConnected'], cable, pointChange(both, cable))).to.equal(false);
    expect(starts(['EVConnected'], both, pointChange(cable, both))).to.equal(true);
    expect(starts(['EnergyTransfer'], both, pointChange(cable, both))).to.equal(false);
  });

  it('a stop point stops when it is lost, and nothing left stops too', () => {
    const both = points('EVConnected', 'Authorized', 'PowerPathClosed');
    const cable = points('EVConnected');
    expect(stops(['Authorized'], cable, pointChange(both, cable))).to.equal(true);
    expect(stops(['EVConnected'], cable, pointChange(both, cable))).to.equal(false);
    expect(stops(['EnergyTransfer'], points(), pointChange(cable, points()))).to.equal(true);
    expect(stops(['EVConnected'], points(), pointChange(points(), points()))).to.equal(false);
  });
});

/** Stop reasons of the device: stoppedReason and trigger of 2.1. */
const reasons: readonly (readonly [string | null, string, string])[] = [
  ['DeAuthorized', 'DeAuthorized', 'Deauthorized'],
  ['EmergencyStop', 'EmergencyStop', 'AbnormalCondition'],
  ['EnergyLimitReached', 'EnergyLimitReached', 'EnergyLimitReached'],
  ['EVDisconnected', 'EVDisconnected', 'EVCommunicationLost'],
  ['GroundFault', 'GroundFault', 'AbnormalCondition'],
  ['ImmediateReset', 'ImmediateReset', 'ResetCommand'],
  ['HardReset', 'ImmediateReset', 'ResetCommand'],
  ['SoftReset', 'ImmediateReset', 'ResetCommand'],
  ['Local', 'Local', 'StopAuthorized'],
  ['LocalOutOfCredit', 'LocalOutOfCredit', 'CostLimitReached'],
  ['MasterPass', 'MasterPass', 'StopAuthorized'],
  ['Other', 'Other', 'AbnormalCondition'],
  ['PowerLoss', 'PowerLoss', 'AbnormalCondition'],
  ['Reboot', 'Reboot', 'AbnormalCondition'],
  ['Remote', 'Remote', 'RemoteStop'],
  ['ReqEnergyTransferRejected', 'ReqEnergyTransferRejected', 'Deauthorized'],
  ['SOCLimitReached', 'SOCLimitReached', 'SoCLimitReached'],
  ['StoppedByEV', 'StoppedByEV', 'ChargingStateChanged'],
  ['TimeLimitReached', 'TimeLimitReached', 'TimeLimitReached'],
  ['Timeout', 'Timeout', 'EVConnectTimeout'],
  ['UnlockCommand', 'Local', 'UnlockCommand'],
  ['toString', 'Other', 'AbnormalCondition'],
  ['whatever', 'Other', 'AbnormalCondition'],
  [null, 'Local', 'StopAuthorized'],
];

describe('OCPP 2.x reasons of ends (E06)', () => {
  for (const [given, reason, trigger] of reasons)
    it(`${given ?? 'no reason'} is ${reason}, told by ${trigger}`, () => {
      expect(whyOf(given)).to.deep.equal({ reason, trigger });
    });

  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as readonly Version2[])
    it(`${version}: each reason and trigger is a word of its schema`, () => {
      payloadChecks.prepare(version);
      const added = [
        'LimitSet',
        'OperationModeChanged',
        'RunningCost',
        'TariffChanged',
        'TariffNotAccepted',
        'TxResumed',
      ];
      const told = [
        ...reasons.map(([given]) => whyOf(given)),
        ...added.map((trigger) => ({ ...whyOf('Other'), trigger: trigger as 'LimitSet' })),
      ];
      for (const { reason, trigger } of told) {
        const event = {
          eventType: 'Ended',
          timestamp: '2026-06-21T08:00:00.000Z',
          triggerReason: triggerIn(version, trigger),
          seqNo: 1,
          transactionInfo: { transactionId: 'T', stoppedReason: reasonIn(version, reason) },
        };
        expect(payloadChecks.check(version, 'TransactionEvent', 'request', event), reason).to.equal(null);
      }
    });

  it('faults of a connector that have a reason of their own', () => {
    const codes = ['GroundFailure', 'OverCurrentFailure', 'OverVoltage', 'UnderVoltage', 'ReaderFailure'] as const;
    expect(codes.map(faultReason)).to.deep.equal([
      'GroundFault',
      'OvercurrentFault',
      'PowerQuality',
      'PowerQuality',
      'Other',
    ]);
  });
});

describe('OCPP 2.x TxBeforeAcceptedEnabled (B02)', () => {
  for (const [enabled, boots, refused] of [
    ['true', 0, false],
    ['false', 0, true],
    ['false', 1, false],
  ] as const)
    it(`${enabled}, after ${boots} accepted boots: a token is ${refused ? 'refused' : 'asked about'}`, async () => {
      const station = rig();
      station.variables.set('TxCtrlr', 'TxBeforeAcceptedEnabled', enabled);
      const deps = {
        tokens: { find: () => null, groupOf: () => null },
        transactions: { at: () => null, running: [] },
        reservations: { blocks: () => false, groupCounts: () => false },
        autoAuthorize: false,
      } as unknown as AuthorizationDeps;
      const registration = Object.create(station.registration, {
        boots: { value: boots },
      }) as typeof station.registration;
      const authorization = createAuthorization({ ...station.parts, registration }, deps);
      const outcome = await authorization.present(1, '04AA11BB').then(
        () => '',
        (error: unknown) => String(error),
      );
      expect(outcome.includes('has not accepted the station yet')).to.equal(refused);
    });
});
