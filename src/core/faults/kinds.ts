/** The vocabulary of fault injection that every protocol shares: what a fault is, whom it strikes, how long. */
import type { z } from 'zod';

/** Who carries a fault out: a protocol on its wire, or the device behind all of them. */
export const faultProtocols = ['device', 'modbus', 'csip', 'ocpp', 'dnp3'] as const;
export type FaultProtocol = (typeof faultProtocols)[number];

/**
 * Where a fault acts: on what a write leaves in a register, on what the physics makes of it, on what a read shows, or
 * on the way there and back.
 */
export const faultLayers = ['acceptance', 'effect', 'reading', 'transport'] as const;
export type FaultLayer = (typeof faultLayers)[number];

/** A condition on one point of the device: the fault rests while it does not hold. A point that is not implemented holds none. */
export interface FaultCondition {
  /** `701.W` */
  readonly point: string;
  /** in the unit of the point */
  readonly below?: number;
  readonly above?: number;
  /** symbol of an enumeration, or a number */
  readonly equals?: string | number;
}

/** Whom a fault strikes; what is absent is not a restriction. Which members a kind takes says its `targets`. */
export interface FaultTarget {
  /** points by name, `704.WMaxLimPct` or `705.Crv[1].Pt[0].V`; a model alone, `704`, means all of its points */
  readonly points?: readonly string[];
  /** raw registers, PDU addresses */
  readonly registers?: { readonly address: number; readonly count: number };
  /** Modbus function codes */
  readonly functions?: readonly number[];
}
export type FaultTargetName = keyof FaultTarget;

/** A fault as it is asked for. */
export interface FaultRequest {
  readonly protocol: FaultProtocol;
  readonly kind: string;
  /** null: every device */
  readonly deviceIndex?: number | null;
  readonly target?: FaultTarget;
  /** what the kind's own schema takes */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly when?: FaultCondition;
  /** strikes after which it ends by itself; absent: no limit */
  readonly count?: number;
  /** seconds after which it ends by itself (simulated time, in layer `transport` wall time); absent: no limit */
  readonly durationS?: number;
  /** chance that it strikes when it could, 0..1; default 1 */
  readonly probability?: number;
  /** strikes at each n-th occasion of a device only; default 1 */
  readonly every?: number;
  /** of the chance; default from the seed of the process and the number of the fault */
  readonly seed?: number;
}

/** One row of the fault catalogue: what a fault is called and what it takes. What it does is with whoever carries it out. */
export interface FaultKind<P = unknown> {
  readonly protocol: FaultProtocol;
  /** snake_case, unique within the protocol */
  readonly kind: string;
  readonly layer: FaultLayer;
  /** one sentence: what a master sees */
  readonly summary: string;
  readonly targets: readonly FaultTargetName[];
  /** copies of its register map that the fault keeps of each device, at most; default 0 */
  readonly keptMaps?: number;
  /** strict object; its output is what the fault works with */
  readonly parameters: z.ZodObject & z.ZodType<P>;
}

/** A fault that is about to be put in; its shape is right. */
export interface ProposedFault {
  readonly kind: FaultKind;
  readonly request: FaultRequest;
  /** as the kind's schema gave them back */
  readonly parameters: unknown;
}

/**
 * What only a device can tell: unknown point names, values that do not fit. Called for devices that the fault concerns.
 * @throws SimError MAP_*, COMMAND_* with faults named by pointers into the request: `/target/points/0`, `/when/point`,
 *   `/parameters/value`
 */
export type FaultCheck = (fault: ProposedFault, deviceIndex: number) => void;
