/**
 * DER controls of OCPP 2.1 (block R): the member of SetDERControl that carries the values of each type of control, in the
 * words of the standard (DERControlEnumType, R04.FR.16).
 */
export const derControlMembers = {
  EnterService: 'enterService',
  FreqDroop: 'freqDroop',
  FreqWatt: 'curve',
  FixedPFAbsorb: 'fixedPFAbsorb',
  FixedPFInject: 'fixedPFInject',
  FixedVar: 'fixedVar',
  Gradients: 'gradient',
  HFMustTrip: 'curve',
  HFMayTrip: 'curve',
  HVMustTrip: 'curve',
  HVMomCess: 'curve',
  HVMayTrip: 'curve',
  LimitMaxDischarge: 'limitMaxDischarge',
  LFMustTrip: 'curve',
  LVMustTrip: 'curve',
  LVMomCess: 'curve',
  LVMayTrip: 'curve',
  PowerMonitoringMustTrip: 'curve',
  VoltVar: 'curve',
  VoltWatt: 'curve',
  WattPF: 'curve',
  WattVar: 'curve',
} as const satisfies Readonly<Record<string, string>>;

export type DerControlMember = (typeof derControlMembers)[keyof typeof derControlMembers];
