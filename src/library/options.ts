/** Arguments of the client and its methods. */

/** The part of the answer of `fetch` that the client reads. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** `fetch`, as far as the client uses it. A request of `ready` also has a `signal` that ends it when its time is over. */
export type Fetch = (
  url: string,
  init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
) => Promise<FetchAnswer>;

type QueryValue = string | number | boolean | undefined;

/** Parameters behind the question mark; undefined leaves one out, a list is joined by commas. */
export type Query = Readonly<Record<string, QueryValue | readonly (string | number)[]>>;

/** Selects a device by its index; absent: the first one, or the common surroundings of all. */
export interface DeviceOption {
  readonly device?: number;
}

/** A connector; default the first one of `SIM-CP-1`. */
export interface ConnectorOption {
  readonly chargePoint?: string;
  readonly connector?: number;
}

/** How far to step: one of the members; none: one tick. */
export interface StepSpan extends DeviceOption {
  readonly ticks?: number;
  /** simulated seconds */
  readonly seconds?: number;
  /** an instant as `2026-06-21T12:05:00Z`, or the next time of day as `12:05` */
  readonly to?: string;
}

export interface RequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
}

export interface ClientOptions {
  /** headers of every request */
  readonly headers?: Readonly<Record<string, string>>;
  /** in place of the global `fetch` */
  readonly fetch?: Fetch;
}

export type Protocol = 'modbus' | 'csip' | 'dnp3' | 'ocpp';

/**
 * Condition of a value: a number or a word that it equals (of an enumeration its number or its name), or a test of it.
 * A value that the device does not have now never passes. `word` is the value as text, of an enumeration its name.
 */
export type Wanted = number | string | ((value: number, word: string) => boolean | PromiseLike<boolean>);

/** Until when to wait. */
export interface WaitOptions {
  /** default 60 */
  readonly timeoutS?: number;
  /** `timeoutS` is simulated time; default: while the clock is paused */
  readonly simulated?: boolean;
  readonly device?: number;
}
