/** DER controls of 2.1 (block R) as values. Instants in ms since the epoch, in the time of the central system. */
import type {
  DERControlEnum,
  DERCurve,
  EnterService,
  FixedPF,
  FixedVar,
  FreqDroop,
  Gradient,
  LimitMaxDischarge,
  Requests,
} from '../messages.ts';

export type { DERControlEnum } from '../messages.ts';

/** Values of a control, under the member of SetDERControl that carries them. */
export type DerBody =
  | { readonly member: 'curve'; readonly value: DERCurve }
  | { readonly member: 'enterService'; readonly value: EnterService }
  | { readonly member: 'fixedPFAbsorb'; readonly value: FixedPF }
  | { readonly member: 'fixedPFInject'; readonly value: FixedPF }
  | { readonly member: 'fixedVar'; readonly value: FixedVar }
  | { readonly member: 'freqDroop'; readonly value: FreqDroop }
  | { readonly member: 'gradient'; readonly value: Gradient }
  | { readonly member: 'limitMaxDischarge'; readonly value: LimitMaxDischarge };

export type DerMember = DerBody['member'];

export interface DerControl {
  readonly id: string;
  readonly type: DERControlEnum;
  readonly isDefault: boolean;
  /** the lower number wins */
  readonly priority: number;
  /** not before the control was set; of a default the instant at which it was set */
  readonly startMs: number;
  /** null: it lasts until it is cleared or superseded */
  readonly endMs: number | null;
  /** greater than that of each control set before */
  readonly order: number;
  readonly body: DerBody;
  readonly superseded: boolean;
  /** its start was reached while it was not superseded */
  readonly started: boolean;
}

/** A start or end for NotifyDERStartStop. */
export interface DerNotice {
  readonly id: string;
  readonly started: boolean;
  readonly atMs: number;
  readonly supersededIds: readonly string[];
}

/** Why a control is refused; the reason code is one of the appendix. */
export interface DerRefusal {
  readonly status: 'Rejected' | 'NotSupported';
  readonly reasonCode: string;
  readonly detail: string;
  /** the rule that the request breaks; absent: none, the station cannot carry it out */
  readonly clause?: string;
}

export const rejected = (detail: string, reasonCode = 'InvalidValue'): DerRefusal => ({
  status: 'Rejected',
  reasonCode,
  detail,
});

export const notSupported = (detail: string): DerRefusal => ({
  status: 'NotSupported',
  reasonCode: 'UnsupportedParam',
  detail,
});

export function isRefusal(result: object): result is DerRefusal {
  return 'reasonCode' in result;
}

/** The member of SetDERControl that belongs to each type of control. */
export const memberOf: Readonly<Record<DERControlEnum, DerMember>> = {
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
};

/** The members of SetDERControl that a request has, in the order of the table. */
export function bodiesOf(request: Requests['SetDERControl']): readonly DerBody[] {
  const { curve, enterService, fixedPFAbsorb, fixedPFInject, fixedVar, freqDroop, gradient, limitMaxDischarge } =
    request;
  return [
    ...(curve === undefined ? [] : [{ member: 'curve', value: curve } as const]),
    ...(enterService === undefined ? [] : [{ member: 'enterService', value: enterService } as const]),
    ...(fixedPFAbsorb === undefined ? [] : [{ member: 'fixedPFAbsorb', value: fixedPFAbsorb } as const]),
    ...(fixedPFInject === undefined ? [] : [{ member: 'fixedPFInject', value: fixedPFInject } as const]),
    ...(fixedVar === undefined ? [] : [{ member: 'fixedVar', value: fixedVar } as const]),
    ...(freqDroop === undefined ? [] : [{ member: 'freqDroop', value: freqDroop } as const]),
    ...(gradient === undefined ? [] : [{ member: 'gradient', value: gradient } as const]),
    ...(limitMaxDischarge === undefined ? [] : [{ member: 'limitMaxDischarge', value: limitMaxDischarge } as const]),
  ];
}

/** Times of a body; EnterService and Gradients have none. */
export function timesOf({ value }: DerBody): { readonly startTime?: string; readonly duration?: number } {
  return 'gradient' in value || 'lowVoltage' in value ? {} : value;
}
