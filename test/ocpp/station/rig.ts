/** A charge point on a real socket with versions that only write down what they are told. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { OcppFunctions, OcppSubprotocol, OcppVersions } from '../../../src/contract/ocpp.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createRandom } from '../../../src/core/random.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Store } from '../../../src/core/store.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import { contextMaker } from '../../../src/ocpp/rpc/credentials.ts';
import { noDisturber } from '../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../src/ocpp/rpc/schemas.ts';
import type { VersionTable } from '../../../src/ocpp/station/spoken.ts';
import { ChargePoint } from '../../../src/ocpp/station/charge-point.ts';
import type { ChargePointOptions } from '../../../src/ocpp/station/charge-point.ts';
import type { StackOptions, VersionStack } from '../../../src/ocpp/station/stack.ts';
import { ocppRules } from '../../../src/finding-rules/ocpp.ts';
import { FindingsRig } from '../../support/findings.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { noCredentials } from '../rpc/rig.ts';
import { fakeDevice } from '../v16/fakes.ts';

export class StationRig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly findings = new FindingsRig();
  /** alarms as they were raised and ended */
  readonly alarms: string[] = [];
  /** what the versions were told */
  readonly told: string[] = [];
  /** of each failed attempt: credentials on trial have failed with it */
  readonly reverted: boolean[] = [];
  /** versions that could not restore their state */
  readonly broken = new Set<OcppSubprotocol>();
  /** versions that fail when they are told of a connection */
  readonly failing = new Set<OcppSubprotocol>();
  /** versions whose state is restored when `restored` is called */
  readonly slow = new Set<OcppSubprotocol>();
  restored: () => void = () => undefined;
  /** ends the last messages of a station that leaves */
  delivered: () => void = () => undefined;
  readonly station: ChargePoint;
  /** the state of the station is restored */
  readonly loaded: Promise<void>;
  bootStatus: VersionStack['bootStatus'] = 'accepted';
  #parts: StackOptions | null = null;

  /** @param store of an earlier process */
  constructor(
    url: string,
    more: Partial<ChargePointOptions> = {},
    versions: OcppVersions = ['ocpp1.6j'],
    store: Store = createMemoryStore(),
  ) {
    const clock = remoteClocks({
      mode: 'wall',
      wall: this.wall,
      later: this.timers.later,
      timeline: {
        sim: () => simTimeFromMs(this.wall.nowMs()),
        dateMs: (t) => t / 1000,
        rate: () => 1,
        paused: () => false,
        at: () => () => undefined,
      },
      log: silentLogger,
    })(silentLogger);
    const version = (subprotocol: OcppSubprotocol) => ({
      subprotocol,
      makeStack: (parts: StackOptions) => this.#stackOf(subprotocol, parts),
    });
    const versionTable: VersionTable = {
      'ocpp1.6j': version('ocpp1.6'),
      'ocpp2.0.1j': version('ocpp2.0.1'),
      'ocpp2.1': version('ocpp2.1'),
    };
    this.station = new ChargePoint({
      durable: () => null,
      id: 'CP-1',
      device: fakeDevice().port,
      versions,
      versionTable,
      url,
      guarded: false,
      credentials: noCredentials,
      autoAuthorize: false,
      contexts: contextMaker(),
      schemas: payloadChecks,
      clock,
      wall: this.wall,
      later: this.timers.later,
      random: (purpose) => createRandom(1, purpose),
      store: (subprotocol, name) => store.slot(`${subprotocol ?? 'station'}/${name}`),
      wireLog: new WireLog({
        clock: this.wall,
        sim: () => simTimeFromMs(this.wall.nowMs()),
        log: { error: () => undefined },
      }),
      disturber: noDisturber,
      commAlarms: {
        raise: (_, code, message) => this.alarms.push(`${code} ${message}`),
        end: () => {
          if (this.alarms.at(-1) !== 'end') this.alarms.push('end');
        },
      },
      findings: this.findings.registry,
      rules: this.findings.registry.rules('ocpp', ocppRules),
      log: silentLogger,
      readLog: () => [],
      ...more,
    });
    this.loaded = this.station.load();
  }

  /** What the station gives its version. */
  get parts(): StackOptions {
    if (this.#parts === null) throw new Error('no version was made');
    return this.#parts;
  }

  async #load(subprotocol: OcppSubprotocol): Promise<void> {
    if (this.broken.has(subprotocol)) throw new Error('the store is broken');
    if (!this.slow.has(subprotocol)) return;
    this.told.push(`load ${subprotocol}`);
    await new Promise<void>((resolve) => {
      this.restored = resolve;
    });
  }

  #stackOf(subprotocol: OcppSubprotocol, parts: StackOptions): VersionStack {
    const bootStatus = () => this.bootStatus;
    this.#parts = parts;
    return {
      isMute: false,
      get bootStatus() {
        return bootStatus();
      },
      heartbeatIntervalS: null,
      lastHeartbeatMs: null,
      transactionMessages: 0,
      droppedMeterValues: 0,
      functions: {
        localList: () => ({ version: 0, entries: [], cache: [{ idToken: subprotocol }] }),
        heartbeat: () => Promise.resolve({ action: subprotocol }),
        setConfiguration: () => this.told.push(`${subprotocol} is configured`),
        authorize: () => Promise.resolve({ status: subprotocol }),
      } as unknown as OcppFunctions,
      load: () => this.#load(subprotocol),
      opened: (event) => {
        this.told.push(`opened ${event.subprotocol}`);
        if (this.failing.has(subprotocol)) throw new Error('the version is broken');
      },
      closed: ({ code }) => this.told.push(`closed ${code}`),
      failed: ({ kind }, isReverted) => {
        this.reverted.push(isReverted);
        this.told.push(`failed ${kind}`);
      },
      restoreOwn: (certificate) => this.told.push(`restore ${certificate?.cert ?? null}`),
      retargeted: () => this.told.push('retargeted'),
      sent: () => undefined,
      handle: (action) => {
        this.told.push(`${subprotocol} handles ${action}`);
        return { status: 'Accepted' };
      },
      giveWay: () => this.told.push(`${subprotocol} gives way`),
      leave: () => {
        this.told.push('leave');
        return new Promise((resolve) => {
          this.delivered = resolve;
        });
      },
      stop: () => this.told.push('stop'),
      release: (isReplaced) => this.told.push(isReplaced ? 'hand over' : 'release'),
    };
  }

  /** Lets the socket move until the version has been told something. */
  async until(line: string): Promise<void> {
    for (let turns = 0; !this.told.includes(line) && turns < 20_000; turns += 1) await nextTurn();
    expect(this.told).to.include(line);
    this.told.splice(0, this.told.indexOf(line) + 1);
  }

  /** Lets the wait before the next attempt pass. */
  passWait(): void {
    this.timers.pass((this.station.status.reconnectInS ?? NaN) * 1000);
  }
}
