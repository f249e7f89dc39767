/** A peer with its counts per rule. */
import { createHash } from 'node:crypto';
import type { SimTime } from '../time/clock.ts';
import type { PeerIdentity, RuleNeed } from './rule.ts';

/** Wall and simulated time of a case. */
export interface Instant {
  readonly wallMs: number;
  readonly sim: SimTime;
}

/** A case as it is kept. */
export interface KeptCase extends Instant {
  readonly text: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
  readonly message: { readonly channel: string; readonly id: number } | null;
  readonly excerpt: string | null;
  readonly sinceMs: number | null;
  readonly deviceIndex: number | null;
  /** active faults, `protocol.kind` */
  readonly faults: readonly string[];
  /** reason why it does not count; null: it counts */
  readonly excuse: string | null;
  /** memory that it takes, octets */
  readonly size: number;
}

const maxFirst = 3;
const maxLatest = 2;
const maxDevices = 16;
const maxKeys = 32;

/** Counts and evidence of one rule at one peer. */
export class Cell {
  /** rises with each case of the registry; 0: no case */
  id = 0;
  /** occasions at which the peer kept the rule */
  kept = 0;
  /** occasions at which it did not, excused ones and repetitions among them */
  missed = 0;
  /** cases, of which repetitions within the quiet time count as one */
  broken = 0;
  repeats = 0;
  excused = 0;
  undecided = 0;
  /** waits that have not ended */
  pending = 0;
  first: Instant | null = null;
  last: Instant | null = null;
  lastExcuse: string | null = null;
  readonly devices = new Set<number>();
  hasMoreDevices = false;
  firstCases: readonly KeptCase[] = [];
  latestCases: readonly KeptCase[] = [];
  readonly #lastByKey = new Map<string, number>();

  get exercised(): number {
    return this.kept + this.missed;
  }

  get cases(): readonly KeptCase[] {
    return [...this.firstCases, ...this.latestCases];
  }

  /** True if a case with this key repeats one within the quiet time, which starts anew. */
  repeatsAt(key: string, nowMs: number, quietMs: number): boolean {
    const lastMs = this.#lastByKey.get(key);
    // in its place: moving it to the end would cost more than the rest, and peers repeat a case thousands of times
    this.#lastByKey.set(key, nowMs);
    if (this.#lastByKey.size > maxKeys)
      for (const oldest of this.#lastByKey.keys()) {
        this.#lastByKey.delete(oldest);
        break;
      }
    return lastMs !== undefined && nowMs - lastMs < quietMs;
  }

  /** Keeps the first cases and the latest ones. @returns octets that the cells now takes more, or less */
  keep(one: KeptCase): number {
    this.first ??= one;
    this.last = one;
    this.#noteDevice(one.deviceIndex);
    if (this.firstCases.length < maxFirst) {
      this.firstCases = [...this.firstCases, one];
      return one.size;
    }
    const dropped = this.latestCases.length < maxLatest ? undefined : this.latestCases[0];
    this.latestCases = [...this.latestCases.slice(dropped === undefined ? 0 : 1), one];
    return one.size - (dropped?.size ?? 0);
  }

  /** Drops all cases but the first. @returns their octets */
  thin(): number {
    const dropped = this.cases.slice(1);
    this.firstCases = this.firstCases.slice(0, 1);
    this.latestCases = [];
    return dropped.reduce((sum, { size }) => sum + size, 0);
  }

  #noteDevice(deviceIndex: number | null): void {
    if (deviceIndex === null || this.devices.has(deviceIndex)) return;
    if (this.devices.size < maxDevices) this.devices.add(deviceIndex);
    else this.hasMoreDevices = true;
  }
}

const maxFacets = 16;
const maxFacetValues = 16;
const maxNameLength = 64;

/** Cuts a name that a peer determines. */
export const cutName = (name: string) => (name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}...`);

/** The other side of a protocol. Adapters keep it with a connection, and count in it what the judges need. */
export class Peer {
  readonly identity: PeerIdentity;
  /** false: it has sent no valid request of the protocol, and is a stranger without findings */
  isValid = false;
  /** it has written a register or set-point, or sent a command */
  hasWritten = false;
  /** valid requests */
  requests = 0;
  openConnections = 0;
  /** ended connections */
  departures = 0;
  /** wall time of the last connection, departure or case, ms */
  lastSeenMs: number;
  readonly facets = new Map<string, Set<string>>();
  /** reasons why rules with a need cannot be judged */
  readonly lacking = new Map<RuleNeed, string>();
  /** by number of the rule in the registry */
  cells: (Cell | undefined)[] = [];
  /** false: it gave its place to others, and takes one again with its next case */
  isListed = true;
  #id: string | null = null;

  constructor(identity: PeerIdentity, nowMs: number) {
    this.identity = identity;
    this.lastSeenMs = nowMs;
  }

  /** 12 hex digits, the same in each process. */
  get id(): string {
    const { protocol, address, certificate = '' } = this.identity;
    this.#id ??= createHash('sha256')
      .update(JSON.stringify([protocol, address, certificate]))
      .digest('hex')
      .slice(0, 12);
    return this.#id;
  }

  connected(nowMs: number): void {
    this.openConnections += 1;
    this.lastSeenMs = nowMs;
  }

  disconnected(nowMs: number): void {
    this.openConnections -= 1;
    this.departures += 1;
    this.lastSeenMs = nowMs;
  }

  /** Notes a property for the report: a version, a unit id, the name of the software. */
  facet(name: string, value: string | number): void {
    let values = this.facets.get(name);
    if (values === undefined) {
      if (this.facets.size >= maxFacets) return;
      values = new Set();
      this.facets.set(name, values);
    }
    if (values.size < maxFacetValues) values.add(cutName(String(value)));
  }

  cell(ruleNumber: number): Cell {
    return (this.cells[ruleNumber] ??= new Cell());
  }
}
