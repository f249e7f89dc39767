/** What a walk through the resources of a server finds for its EndDevices. */
import type { Logger } from '../../core/log/log.ts';
import type { Jitter } from '../../core/net/back-off.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { ListedProgram } from '../events/model.ts';
import type { SepExchange } from '../transport/exchange.ts';
import type { DocumentName, Received } from '../xml/document.ts';
import type { DER, DERCurve, DeviceCapability, EndDevice, Registration, Time } from '../xml/documents.ts';

/** An EndDevice that is searched for in the list of the server. */
export interface WalkTarget {
  /** 40 hex digits, upper case */
  readonly lfdi: string;
  readonly sfdi: number;
  /** null: it stands for no single device (an aggregator itself) */
  readonly deviceIndex: number | null;
  /** bits of DeviceCategoryType, for in-band registration */
  readonly deviceCategory: number;
  /** DERs that it needs: those that the list lacks are posted */
  readonly derCount: () => number;
}

/** A document and where it was found. */
export interface Located<T> {
  /** its own URI */
  readonly url: string;
  /** URI that its links are relative to */
  readonly base: string;
  readonly document: Received<T>;
}

/** An EndDevice as the server shows it; its PIN has been checked. */
export interface EndDeviceFacts extends Located<EndDevice> {
  /** null: none, or it could not be read */
  readonly registration: Received<Registration> | null;
  /** in the order of the list; empty: no list, or it could not be read */
  readonly ders: readonly Located<DER>[];
  /** absolute URI of the DERList; null: the EndDevice links to none */
  readonly derListUrl: string | null;
}

/** A curve that a mode of a program uses, or that stands in the list of the program. */
export interface FoundCurve {
  readonly url: string;
  readonly document: Received<DERCurve>;
}

/** A program with what only views need. */
export interface FoundProgram {
  readonly listed: ListedProgram;
  readonly mrid: string | null;
  /** absolute URIs of the FSAs that lead to it */
  readonly fsaUrls: readonly string[];
  readonly curves: readonly FoundCurve[];
}

export interface ServerFacts extends Located<DeviceCapability> {
  /** last Time that was read; null: none */
  readonly time: (Located<Time> & { readonly readAtMonotonicMs: number }) | null;
}

/** Where a walk stands: no answer yet; underway to the EndDevice; an EndDevice or its PIN is missing; at work. */
export type WalkStage = 'connecting' | 'discovering' | 'registering' | 'running';

/** A resource that can be subscribed to (`subscribable` 1 or 3), or read anew at once. */
export interface FoundResource {
  readonly url: string;
  readonly name: DocumentName;
  readonly subscribable: boolean;
}

/** A resource with the SubscriptionList that takes subscriptions to it. */
export interface SubscribableFound {
  readonly resource: FoundResource;
  /** absolute */
  readonly listUrl: string;
  readonly deviceIndex: number | null;
}

/** What a walk tells. Calls come between two readings and never within a call of the walk that changes it. */
export interface WalkListener {
  /** the server has answered the request for its DeviceCapability */
  contact(): void;
  /** it has not */
  noContact(reason: string): void;
  stage(stage: WalkStage): void;
  /** The EndDevice of a target has been found, or has changed; null: it is not on the server, or not enabled. */
  endDevice(target: WalkTarget, facts: EndDeviceFacts | null): void;
  /** the programs of all FSAs of the EndDevice, as they are now */
  programs(target: WalkTarget, programs: readonly FoundProgram[]): void;
  /** The PIN of its Registration is another one: nothing may be done for it from now on. */
  refused(target: WalkTarget, reason: string): void;
}

/** How a client walks. Values are read at each use, so that they can be changed while it runs. */
export interface WalkConduct {
  /** path of the DeviceCapability, or its URI */
  readonly dcap: string;
  /** with check digit; null: not compared */
  readonly pin: number | null;
  /** what follows from a missing RegistrationLink while a PIN is to be compared */
  readonly withoutRegistration: 'continue' | 'stop';
  /** whether an EndDevice that is missing is posted */
  readonly register: boolean;
  /** in place of the pollRate of the server, s; null: that of the server */
  readonly pollRateS: number | null;
  /** false: the time of this machine in place of that of the server */
  readonly useServerTime: boolean;
  /** age from which the Time of an FSA or server counts as stale, s */
  readonly timeStaleS: number;
}

/** Which EndDevices were posted already: never twice, also over restarts. */
export interface RegistrationBook {
  /** whether the target may be posted; it may not be again after that */
  begin(target: WalkTarget): boolean;
  /** There was no answer, or one that may pass: it may be posted again if the list does not show it. */
  failed(target: WalkTarget): void;
}

export interface WalkOptions {
  readonly exchange: SepExchange;
  /** LFDI of the certificate of the connection; undefined: none */
  readonly ownLfdi: string | undefined;
  readonly targets: readonly WalkTarget[];
  readonly conduct: WalkConduct;
  readonly registrations: RegistrationBook;
  readonly clock: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  /** receives the time of the server */
  readonly remoteClock: RemoteClock;
  readonly log: Logger;
  readonly listener: WalkListener;
}
