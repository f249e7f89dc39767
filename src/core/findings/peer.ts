/** A peer with its counts per rule. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { SimTime } from '../time/clock.ts';
import type { PeerIdentity, RuleNeed } from './identity.ts';

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

const noCases: readonly KeptCase[] = [];
const noDevices: ReadonlySet<number> = new Set();

/** Counts and evidence of one rule at one peer. */
export class Cell {
  /** rises with each case of the registry; 0: no case */
  id = 0;
  /** occasions at which the peer kept the rule */
  kept = 0;
  /** occasions at which it did not, excused ones and repetitions among them */
  missed = 0;
  /** occasions at which it did not, and that count: without excused ones */
  offences = 0;
  /** cases, of which repetitions within the quiet time count as one */
  broken = 0;
  repeats = 0;
  excused = 0;
  undecided = 0;
  /** waits that have not ended */
  pending = 0;
  /** of the cases that count, or of the excused ones if none counts; so are `last`, devices and evidence */
  first: Instant | null = null;
  last: Instant | null = null;
  lastExcuse: string | null = null;
  hasMoreDevices = false;
  firstCases: readonly KeptCase[] = noCases;
  latestCases: readonly KeptCase[] = noCases;
  // most cells never have a case: there are as many as peers times rules
  #devices: Set<number> | null = null;
  #lastByKey: Map<string, number> | null = null;

  get exercised(): number {
    return this.kept + this.missed;
  }

  get cases(): readonly KeptCase[] {
    return [...this.firstCases, ...this.latestCases];
  }

  get devices(): ReadonlySet<number> {
    return this.#devices ?? noDevices;
  }

  /** True if a case with this key repeats one within the quiet time, which starts anew. */
  repeatsAt(key: string, nowMs: number, quietMs: number): boolean {
    const lastByKey = (this.#lastByKey ??= new Map<string, number>());
    const lastMs = lastByKey.get(key);
    // in its place: moving it to the end would cost more than the rest, and peers repeat a case thousands of times
    lastByKey.set(lastMs === undefined ? copied(key) : key, nowMs);
    if (lastByKey.size > maxKeys)
      for (const oldest of lastByKey.keys()) {
        lastByKey.delete(oldest);
        break;
      }
    return lastMs !== undefined && nowMs - lastMs < quietMs;
  }

  /**
   * Counts a case, and keeps it if it is among the first or the latest. The first that counts takes the place of all
   * excused ones, so that no excused case stands as evidence against a peer.
   * @returns octets that the cell now takes more, or less
   */
  keep(one: KeptCase): number {
    if (one.excuse === null) {
      const dropped = this.broken === 0 ? this.#drop() : 0;
      this.broken += 1;
      return this.#store(one) - dropped;
    }
    this.excused += 1;
    this.lastExcuse = one.excuse;
    return this.broken === 0 ? this.#store(one) : 0;
  }

  /** Drops all cases but the first ones. @returns their octets */
  thin(kept: number): number {
    const dropped = this.cases.slice(kept);
    this.firstCases = this.firstCases.slice(0, kept);
    this.latestCases = noCases;
    return dropped.reduce((sum, { size }) => sum + size, 0);
  }

  #store(one: KeptCase): number {
    const instant = { wallMs: one.wallMs, sim: one.sim };
    this.first ??= instant;
    this.last = instant;
    this.#noteDevice(one.deviceIndex);
    if (this.firstCases.length < maxFirst) {
      this.firstCases = [...this.firstCases, one];
      return one.size;
    }
    const dropped = this.latestCases.length < maxLatest ? undefined : this.latestCases[0];
    this.latestCases = [...this.latestCases.slice(dropped === undefined ? 0 : 1), one];
    return one.size - (dropped?.size ?? 0);
  }

  #drop(): number {
    this.first = null;
    this.#devices = null;
    this.hasMoreDevices = false;
    return this.thin(0);
  }

  #noteDevice(deviceIndex: number | null): void {
    if (deviceIndex === null || this.devices.has(deviceIndex)) return;
    if (this.devices.size < maxDevices) (this.#devices ??= new Set()).add(deviceIndex);
    else this.hasMoreDevices = true;
  }
}

const maxFacets = 16;
const maxFacetValues = 16;
const maxNameLength = 64;

/** A copy of its own: a part of a text keeps the whole message in memory. */
const copied = (text: string) => Buffer.from(text, 'utf16le').toString('utf16le');

/** Cuts a text that a peer determines, between characters. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return copied(text);
  const cutsPair = /[\ud800-\udbff]/.test(text.charAt(maxLength - 1));
  return copied(`${text.slice(0, cutsPair ? maxLength - 1 : maxLength)}...`);
}

/** Cuts a name that a peer determines. */
export const cutName = (name: string) => cutText(name, maxNameLength);

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
