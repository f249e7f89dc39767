/** Search for servers by DNS-SD over multicast DNS (IEEE 2030.5-2018 clause 7). */
import { createRequire } from 'node:module';
import type multicastDns from 'multicast-dns';
import type { ResponsePacket } from 'multicast-dns';
import { isIP } from 'node:net';
import type { CsipFoundServer } from '../contract/csip-reports.ts';
import { errorText, SimError, checkDescriptorsToRequire } from '../core/errors.ts';
import { lazily } from '../core/lazy.ts';
import { callLater } from '../core/time/timers.ts';
import type { Later } from '../core/time/timers.ts';
import { isRefusedTarget } from '../core/net/outbound.ts';

export const service = '_smartenergy._tcp.local';
/** Subtype of the function set EndDevice, at which clients register; other function sets lead to the same servers. */
export const subtype = `_edev._sub.${service}`;

const maxAddresses = 8;

type Answer = NonNullable<ResponsePacket['answers']>[number];

interface Srv {
  readonly host: string;
  readonly port: number;
}

/** Facts of a TXT record (clause 7, table 16). */
interface Txt {
  readonly dcap: string;
  readonly httpsPort: number | null;
  readonly level: string | null;
}

interface Question {
  readonly name: string;
  readonly type: 'SRV' | 'TXT' | 'A' | 'AAAA';
}

/** DNS names are case-insensitive. */
const key = (name: string) => name.toLowerCase().replace(/\.$/u, '');
const isHost = (name: string) => name.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/u.test(name);
const isPort = (port: number) => Number.isInteger(port) && port > 0 && port <= 0xffff;

function portOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  // key without a value: the default port of https
  if (text === '') return 443;
  return /^[0-9]{1,5}$/u.test(text) && isPort(Number(text)) ? Number(text) : null;
}

/** Strings `key=value`; the first of equal keys counts (RFC 6763 6.4). */
function pairsOf(data: unknown): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const each of Array.isArray(data) ? (data as readonly unknown[]) : [data]) {
    if (typeof each !== 'string' && !Buffer.isBuffer(each)) continue;
    const [, name = '', value = ''] = /^([^=]{1,20})(?:=(.{0,255}))?$/su.exec(each.toString()) ?? [];
    const lower = name.toLowerCase();
    if (lower !== '' && !pairs.has(lower)) pairs.set(lower, value);
  }
  return pairs;
}

/** null: a record to discard (clause 7.4), with another version or without the path of the DeviceCapability. */
function txtOf(data: unknown): Txt | null {
  const pairs = pairsOf(data);
  const dcap = pairs.get('dcap') ?? '';
  if (pairs.get('txtvers') !== '1' || !/^\/[!-~]*$/u.test(dcap)) return null;
  const level = pairs.get('level');
  return {
    dcap,
    httpsPort: portOf(pairs.get('https')),
    level: level !== undefined && /^[+-]?S[0-9]{1,3}$/u.test(level) ? level : null,
  };
}

/** null: a record without a host that can be reached. */
function srvOf(data: unknown): Srv | null {
  if (typeof data !== 'object' || data === null || !('target' in data && 'port' in data)) return null;
  const { target, port } = data;
  if (typeof target !== 'string' || typeof port !== 'number') return null;
  const host = key(target);
  return isHost(host) && isPort(port) ? { host, port } : null;
}

/** The label of an instance as readable text. */
function labelOf(instance: string): string {
  const label = instance.slice(0, -service.length - 1);
  return Array.from(label.replace(/[\p{Cc}\p{Cs}\p{Cf}]/gu, '?'))
    .slice(0, 63)
    .join('');
}

/**
 * Servers of IEEE 2030.5 in answers of multicast DNS (RFC 6763). Any host can send answers: incomplete records, and
 * instances beyond `limit`, are dropped.
 */
export class Answers {
  readonly #limit: number;
  /** names as sent, by their keys */
  readonly #instances = new Map<string, string>();
  readonly #srv = new Map<string, Srv>();
  /** null: a discarded record */
  readonly #txt = new Map<string, Txt | null>();
  readonly #addresses = new Map<string, Set<string>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds the records of one packet, in any order. */
  add(records: readonly Answer[]): void {
    const valid = records.filter((record) => !isGoodbye(record));
    for (const record of valid) if (record.type === 'PTR') this.#point(record.name, record.data);
    for (const record of valid) this.#describe(record);
    for (const record of valid)
      if (record.type === 'A' || record.type === 'AAAA') this.#address(record.name, record.data);
  }

  /** Questions for missing records of the instances. */
  missing(): readonly Question[] {
    const questions: Question[] = [];
    const ask = (name: string, ...types: readonly Question['type'][]) => {
      questions.push(...types.map((type) => ({ name, type })));
    };
    for (const [instance, name] of this.#instances) {
      const srv = this.#srv.get(instance);
      if (!srv) ask(name, 'SRV');
      else if (!this.#addresses.has(srv.host)) ask(srv.host, 'A', 'AAAA');
      if (!this.#txt.has(instance)) ask(name, 'TXT');
    }
    return questions;
  }

  /** Servers with host, addresses and path; several instances may share one. */
  servers(): readonly CsipFoundServer[] {
    const serversById = new Map<string, CsipFoundServer>();
    for (const [instance, name] of this.#instances) {
      const [srv, txt] = [this.#srv.get(instance), this.#txt.get(instance)];
      const hostAddresses = srv && this.#addresses.get(srv.host);
      if (!hostAddresses || !txt) continue;
      const { host, port } = srv;
      const id = [host, port, txt.httpsPort, txt.dcap].join(' ');
      if (serversById.has(id)) continue;
      const addresses = [...hostAddresses];
      serversById.set(id, {
        name: labelOf(name),
        host,
        addresses,
        port,
        ...txt,
        permitted: !addresses.some(isRefusedTarget),
      });
    }
    return [...serversById.values()];
  }

  #point(name: string, data: unknown): void {
    if (![service, subtype].includes(key(name)) || typeof data !== 'string') return;
    const instance = key(data);
    const isOurs = instance.endsWith(`.${service}`) && instance.length <= 253;
    if (isOurs && this.#instances.size < this.#limit && !this.#instances.has(instance))
      this.#instances.set(instance, data);
  }

  #describe(record: Answer): void {
    if (record.type !== 'SRV' && record.type !== 'TXT') return;
    const instance = key(record.name);
    if (!this.#instances.has(instance)) return;
    if (record.type === 'TXT') {
      if (!this.#txt.has(instance)) this.#txt.set(instance, txtOf(record.data));
      return;
    }
    const srv = srvOf(record.data);
    if (srv && !this.#srv.has(instance)) this.#srv.set(instance, srv);
  }

  #address(name: string, data: unknown): void {
    const host = key(name);
    if (typeof data !== 'string' || isIP(data) === 0) return;
    if (![...this.#srv.values()].some((srv) => srv.host === host)) return;
    const addresses = this.#addresses.get(host) ?? new Set();
    if (addresses.size < maxAddresses) this.#addresses.set(host, addresses.add(data));
  }
}

/** A record with a time to live of 0 revokes an earlier one (RFC 6762 10.1). */
const isGoodbye = (record: Answer): boolean => 'ttl' in record && record.ttl === 0;

const require = createRequire(import.meta.url);

const library = lazily(() => require('multicast-dns') as typeof multicastDns, checkDescriptorsToRequire);

interface DiscoveryOptions {
  /** default: 5000 */
  readonly timeoutMs?: number;
  /** maximum of service instances; default: 32 */
  readonly limit?: number;
  /** number of servers that ends the search; default: the search lasts `timeoutMs` */
  readonly enough?: number;
  /** ends the search early, with the servers discovered so far */
  readonly signal?: AbortSignal;
  readonly later?: Later;
  /** default: every interface, port 5353 */
  readonly network?: { readonly interface: string; readonly port: number };
}

/** Packets of one search beyond this number are ignored. */
const maxPackets = 500;
/** Delays before questions are repeated (RFC 6762 5.2: the first after 1 s, then doubling). */
const repetitionsMs = [1000, 3000];

/**
 * Servers in the order of their first answer. Answers are not authenticated: only its certificate identifies a server,
 * and `permitted` is false where the outbound rules forbid a connection.
 * @throws SimError PEER_ERROR if this machine has no multicast DNS, SHORTAGE without free descriptors
 */
export async function discoverServers(options: DiscoveryOptions = {}): Promise<readonly CsipFoundServer[]> {
  const { timeoutMs = 5000, limit = 32, enough = Infinity, signal, later = callLater, network } = options;
  if (signal?.aborted === true) return [];
  const create = await library();
  const answers = new Answers(limit);
  // a socket bound to the address of an interface receives no multicast
  const mdns = create(network && { ...network, bind: '0.0.0.0' });
  const timers: (() => void)[] = [];
  const ended = new AbortController();
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown) => {
        reject(new SimError('PEER_ERROR', `multicast DNS is not possible: ${errorText(error)}`));
      };
      const onSent = (error: unknown) => {
        if (error instanceof Error) fail(error);
      };
      const search = () => {
        mdns.query([...browse, ...answers.missing().map((question) => ({ ...question }))], onSent);
      };
      let packets = 0;
      let joined = false;
      let warning: unknown = 'no interface has it';
      mdns.on('networkInterface', () => {
        joined = true;
      });
      mdns.on('warning', (error) => {
        if (!joined) warning = error;
      });
      mdns.on('error', fail);
      mdns.on('response', ({ answers: records, additionals }) => {
        if (++packets > maxPackets) return;
        const earlier = answers.missing().map(({ name, type }) => `${type} ${name}`);
        answers.add([...(records ?? []), ...(additionals ?? [])]);
        if (answers.servers().length >= enough) resolve();
        const newQuestions = answers.missing().filter(({ name, type }) => !earlier.includes(`${type} ${name}`));
        if (newQuestions.length > 0) mdns.query([...newQuestions], onSent);
      });
      mdns.on('ready', () => {
        if (joined) search();
        else fail(warning);
      });
      signal?.addEventListener('abort', () => resolve(), { signal: ended.signal });
      timers.push(
        ...repetitionsMs.filter((ms) => ms < timeoutMs).map((ms) => later(ms, search)),
        later(timeoutMs, resolve),
      );
    });
  } finally {
    ended.abort();
    for (const cancel of timers) cancel();
    await new Promise<void>((resolve) => mdns.destroy(resolve));
  }
  return answers.servers();
}

const browse = [service, subtype].map((name) => ({ name, type: 'PTR' as const }));
