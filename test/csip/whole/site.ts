/**
 * The whole simulator with its client at a head-end of the tests, in one process. Nothing passes but in `advance`: the
 * simulated clock, the wall clock with its timers and the clock of the head-end move together, and each step waits until
 * client and head-end have nothing left to do.
 */
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../../../src/app/start-stop.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { issue } from '../../support/pki.ts';
import type { Identity } from '../../support/pki.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningOptions } from '../../support/running-app.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { HeadEnd, lfdiOf } from '../head-end/head-end.ts';
import type { HeadEndOptions } from '../head-end/head-end.ts';
import type { Control, EndDevice } from '../head-end/model.ts';

/** Turns of the event loop without any request, after which client and head-end are at rest. */
const quietTurns = 12;

export interface SiteOptions {
  /** default: one PV device */
  readonly types?: readonly string[];
  readonly flags?: readonly string[];
  /** certificates beyond those of the devices at the start */
  readonly spareIdentities?: number;
  /** several devices behind one identity */
  readonly aggregator?: boolean;
  /** default: that of `aggregator`, or a client for each device */
  readonly identity?: 'site';
  /** null: plain HTTP */
  readonly tls?: Partial<NonNullable<HeadEndOptions['tls']>> | null;
  /** what the head-end has before the client comes */
  readonly prepare?: (headEnd: HeadEnd, lfdis: readonly string[]) => void;
  /** the client does not begin before `start` */
  readonly startsLater?: boolean;
  /** flags from which each device is made */
  readonly deviceFlags?: readonly string[];
  readonly app?: Pick<RunningOptions, 'openStateFolder'>;
}

const identities: Identity[] = [];

/** A certificate for both parts, with its intermediate. */
async function identity({ intermediate }: HeadEndPki, name: string): Promise<Identity> {
  const { cert, key } = await issue(intermediate, name, { purpose: 'client', bothWays: true });
  return { cert: cert + intermediate.cert, key };
}

/** Certificates of devices, made once in a process. */
async function deviceIdentities(pki: HeadEndPki, count: number): Promise<readonly Identity[]> {
  while (identities.length < count) identities.push(await identity(pki, `device ${identities.length}`));
  return identities.slice(0, count);
}

const fingerprint = ({ cert }: Identity): string => lfdiOf(new X509Certificate(cert).raw);

export class Site {
  readonly headEnd: HeadEnd;
  readonly wall: HandWall;
  readonly timers: HandTimers;
  /** of the certificates of the client, in the order of the devices; one for an aggregator or a site */
  readonly lfdis: readonly string[];
  readonly #directory: string;
  readonly #begin: () => Promise<{ readonly app: App; readonly port: number }>;
  #running: { readonly app: App; readonly port: number } | null = null;

  private constructor(
    parts: Pick<Site, 'headEnd' | 'wall' | 'timers' | 'lfdis'>,
    directory: string,
    begin: () => Promise<{ readonly app: App; readonly port: number }>,
  ) {
    this.headEnd = parts.headEnd;
    this.wall = parts.wall;
    this.timers = parts.timers;
    this.lfdis = parts.lfdis;
    this.#directory = directory;
    this.#begin = begin;
  }

  static async open(options: SiteOptions = {}): Promise<Site> {
    const {
      types = ['PV-3Phase'],
      flags = [],
      aggregator = false,
      identity: kind,
      tls = {},
      prepare,
      startsLater = false,
      spareIdentities = 0,
      deviceFlags = [],
      app,
    } = options;
    const isOne = aggregator || kind !== undefined;
    const pki = await headEndPki();
    const wall = new HandWall();
    const timers = new HandTimers(wall);
    const secure = tls === null ? null : { identity: pki.server, ca: pki.root.cert, ...tls };
    const headEnd = await HeadEnd.open({ tls: secure, nowMs: () => wall.nowMs() });
    const clients = await deviceIdentities(pki, isOne ? 1 : types.length + spareIdentities);
    const lfdis = clients.map(fingerprint);
    prepare?.(headEnd, lfdis);
    const directory = mkdtempSync(join(tmpdir(), 'derbench-site-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    const [first] = clients;
    const single = [
      '--csip_cert',
      file('cert.pem', first?.cert ?? ''),
      '--csip_key',
      file('key.pem', first?.key ?? ''),
    ];
    mkdirSync(join(directory, 'devices'));
    clients.forEach(({ cert, key }, index) => {
      file(join('devices', `device${index}.pem`), cert);
      file(join('devices', `device${index}.key`), key);
    });
    const all = [
      ...['--csip_client_enable', 'yes', '--csip_server_port', String(headEnd.port), '--csip_website_port', '0'],
      ...['--remote_clock', 'simulated', '--csip_root_cert', file('root.pem', pki.root.cert), '--tick', '1'],
      ...(types.length > 1 && !isOne ? ['--csip_cert_dir', join(directory, 'devices')] : single),
      ...(aggregator ? ['--csip_identity', 'aggregator', '--csip_pen', '40732'] : []),
      ...(kind === undefined ? [] : ['--csip_identity', kind]),
      ...(tls === null ? ['--csip_enc', 'no'] : []),
      ...flags,
    ];
    // what is kept over a restart of the simulator
    const store = createMemoryStore();
    const begin = () => startApp(types, all, { wall, later: timers.later, store, deviceFlags, ...app });
    const site = new Site({ headEnd, wall, timers, lfdis }, directory, begin);
    if (!startsLater) await site.start();
    return site;
  }

  async start(): Promise<void> {
    this.#running = await this.#begin();
    await this.settle();
  }

  /** Ends the simulator; the head-end goes on. */
  async stop(): Promise<void> {
    await this.#running?.app.stop();
    this.#running = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.headEnd.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get app(): App {
    if (this.#running === null) throw new Error('the simulator is not running');
    return this.#running.app;
  }

  /** of REST */
  get port(): number {
    return this.#running?.port ?? 0;
  }

  /** Until client and head-end have answered each other. */
  async settle(): Promise<void> {
    let seen = -1;
    for (let quiet = 0; quiet < quietTurns; quiet += 1) {
      await nextTurn();
      const { length } = this.headEnd.requests;
      if (this.headEnd.open > 0 || length !== seen) quiet = 0;
      seen = length;
    }
  }

  /** Lets time pass. @param stepS longest piece: what both sides do about a piece happens at its end */
  async advance(seconds: number, stepS = 1): Promise<void> {
    const { plant } = this.app;
    for (let left = seconds; left > 1e-9; ) {
      const piece = Math.min(stepS, left);
      await plant.runTo(addSeconds(plant.time.sim, piece));
      this.timers.pass(piece * 1000);
      await this.settle();
      left -= piece;
    }
  }

  /** Lets time pass until a value is there. @throws Error after `maxS` */
  async until<T>(
    what: string,
    maxS: number,
    find: () => T | undefined | Promise<T | undefined>,
    stepS = 1,
  ): Promise<T> {
    for (let passed = 0; ; passed += stepS) {
      const found = await find();
      if (found !== undefined) return found;
      if (passed >= maxS) throw new Error(`${what}: not within ${maxS} s\n${this.story()}`);
      await this.advance(stepS, stepS);
    }
  }

  /** The first EndDevice of the head-end. */
  get device(): EndDevice {
    const [device] = this.headEnd.endDevices;
    if (device === undefined) throw new Error('the head-end has no EndDevice');
    return device;
  }

  /** Until a control has been answered with a status. */
  responded({ mRID }: Control, status: number, maxS = 150): Promise<number[]> {
    const statuses = () => this.headEnd.statuses(mRID);
    return this.until(`response ${status}`, maxS, () => (statuses().includes(status) ? statuses() : undefined));
  }

  async get(path: string): Promise<Json> {
    const { status, json, text } = await ask(this.#running?.port ?? 0, `/api/sim/${path}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return json;
  }

  async post(path: string, body: unknown): Promise<Json> {
    const { status, json, text } = await ask(this.#running?.port ?? 0, `/api/sim/${path}`, { method: 'POST', body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return json;
  }

  /** Changes settings. */
  async patch(body: unknown): Promise<Json> {
    const { status, json, text } = await ask(this.#running?.port ?? 0, '/api/sim/settings', { method: 'PATCH', body });
    if (status !== 200) throw new Error(`settings: ${status} ${text}`);
    return json;
  }

  /** Points of a model by name. */
  async points(model: number, device = 0): Promise<Json> {
    const { points } = await this.get(`registers/${model}?device=${device}`);
    return Object.fromEntries((points as Json[]).map(({ name, value }) => [name, value]));
  }

  /** Active power of a device, W. */
  async watts(device = 0): Promise<number> {
    return Number((await this.points(701, device)).W);
  }

  /** Points that differ from the start, and their values. */
  async changes(device = 0): Promise<Json> {
    const { changes } = await this.get(`registers/changes?device=${device}`);
    return Object.fromEntries((changes as Json[]).map(({ point, value }) => [point, value]));
  }

  /** Ids of the rules that the head-end has broken, in the order in which they were found. */
  async findings(): Promise<string[]> {
    const { logs } = await this.get('logs?modules=Findings&limit=1000');
    return (logs as Json[]).map(({ message }) => String(message).split(' ')[0] ?? '');
  }

  /** The requests so far, for messages. */
  story(): string {
    const { requests, responses } = this.headEnd;
    const told = requests
      .slice(-60)
      .map(({ atS, method, path, query, status }) => `${atS} ${method} ${path}${query} ${status}`);
    return [...told, ...responses.map(({ atS, mRID, status }) => `${atS} response ${status} to ${mRID}`)].join('\n');
  }
}
