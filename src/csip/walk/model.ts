/** Results of the walk through the resources of a server, by EndDevice. */
import type { Logger } from '../../core/log/log.ts';
import type { Jitter } from '../../core/net/back-off.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { LoopShare } from '../../core/turns.ts';
import type { ListedProgram } from '../events/model.ts';
import type { SepExchange } from '../transport/exchange.ts';
import type { ListWitness } from './reader.ts';
import type { DocumentName, Received } from '../xml/schema.ts';
import type { DER, DERCurve, DeviceCapability, EndDevice, Registration, Time } from '../xml/documents.ts';

/** An EndDevice that the client looks for in the list of the server. */
export interface WalkTarget {
  /** 40 hex digits, upper case */
  readonly lfdi: string;
  readonly sfdi: number;
  /** null: all devices of a site */
  readonly deviceIndex: number | null;
  /** of this EndDevice, with check digit; null or absent: that of the conduct */
  readonly pin?: number | null;
  /** bits of DeviceCategoryType, for in-band registration */
  readonly deviceCategory: number;
  /** DERs that it needs; those missing in its list are posted */
  readonly derCount: () => number;
}

/** A document and its location. */
export interface Located<T> {
  /** its own URI */
  readonly url: string;
  /** URI to which its links are relative */
  readonly base: string;
  readonly document: Received<T>;
}

/** An EndDevice on the server whose PIN has been checked. */
export interface EndDeviceFacts extends Located<EndDevice> {
  /** null: no Registration, or unreadable */
  readonly registration: Received<Registration> | null;
  /** in the order of the list; empty: no list, or unreadable */
  readonly ders: readonly Located<DER>[];
  /** absolute URI of the DERList; null: no link */
  readonly derListUrl: string | null;
}

/** A curve of a mode, or of the list of curves, of a program. */
export interface FoundCurve {
  readonly url: string;
  readonly document: Received<DERCurve>;
}

/** A program with facts for views. */
export interface FoundProgram {
  readonly listed: ListedProgram;
  readonly mrid: string | null;
  /** absolute URIs of the FSAs that lead to it */
  readonly fsaUrls: readonly string[];
  readonly curves: readonly FoundCurve[];
}

export interface ServerFacts extends Located<DeviceCapability> {
  /** the last Time; null: none */
  readonly time: (Located<Time> & { readonly readAtMonotonicMs: number }) | null;
}

/** Progress of a walk: no answer yet; on the way to the EndDevice; EndDevice or right PIN missing; at work. */
export type WalkStage = 'connecting' | 'discovering' | 'registering' | 'running';

/** A resource that permits subscriptions (`subscribable` 1 or 3), or can be read again on a notification. */
export interface FoundResource {
  readonly url: string;
  readonly name: DocumentName;
  readonly subscribable: boolean;
}

/** A resource and the SubscriptionList for it. */
export interface SubscribableFound {
  readonly resource: FoundResource;
  /** absolute */
  readonly listUrl: string;
  readonly deviceIndex: number | null;
}

/** Receives the results of a walk. Calls come between two readings, never within a call that changes the walk. */
export interface WalkListener {
  /** the DeviceCapability was read */
  contact(): void;
  /** the DeviceCapability could not be read */
  noContact(reason: string): void;
  stage(stage: WalkStage): void;
  /** The EndDevice of a target was found or has changed. null: not on the server, or not enabled. */
  endDevice(target: WalkTarget, facts: EndDeviceFacts | null): void;
  /** the present programs of all FSAs of the EndDevice */
  programs(target: WalkTarget, programs: readonly FoundProgram[]): void;
  /** The PIN of the Registration is wrong: the client stops acting for this EndDevice. */
  refused(target: WalkTarget, reason: string): void;
}

/** Settings of a walk. They are read at each use, so that they may change while it runs. */
export interface WalkConduct {
  /** path or URI of the DeviceCapability */
  readonly dcap: string;
  /** with check digit; null: PINs are not compared */
  readonly pin: number | null;
  /** reaction to a missing RegistrationLink when a PIN is set */
  readonly withoutRegistration: 'continue' | 'stop';
  /** true: missing EndDevices are posted */
  readonly register: boolean;
  /** overrides the pollRate of the server, s; null: no override */
  readonly pollRateS: number | null;
  /** false: the clock of this machine instead of the Time of the server */
  readonly useServerTime: boolean;
  /** age from which the Time of an FSA or server counts as stale, s */
  readonly timeStaleS: number;
}

/** EndDevices that were posted, so that none is posted twice, even over restarts. */
export interface RegistrationBook {
  /** true if the target may be posted; it may not be again afterwards */
  begin(target: WalkTarget): boolean | Promise<boolean>;
  /** No answer, or a temporary one: the target may be posted again if the list does not show it. */
  failed(target: WalkTarget): void;
}

export interface WalkOptions {
  readonly exchange: SepExchange;
  /** LFDI of the certificate of the connection; undefined: no certificate */
  readonly ownLfdi: string | undefined;
  readonly targets: readonly WalkTarget[];
  readonly conduct: WalkConduct;
  readonly registrations: RegistrationBook;
  readonly clock: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  /** follows the time of the server */
  readonly remoteClock: RemoteClock;
  readonly log: Logger;
  readonly listener: WalkListener;
  /** absent: nobody judges the server */
  readonly witness?: ListWitness | undefined;
  /** of the turns of the event loop, for long lists; default: one of its own */
  readonly share?: LoopShare;
}
