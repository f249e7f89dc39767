/** The parts of a 1.6 station that serve its upkeep, on doubles; every message fits its schema. */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/core/log/log.ts';
import type { Logger } from '../../../../src/core/log/log.ts';
import { createRandom } from '../../../../src/core/random.ts';
import type { Payload } from '../../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import { bootTable16, createCalls } from '../../../../src/ocpp/provisioning/registration.ts';
import { callsOf } from '../../../../src/ocpp/v16/provisioning.ts';
import type { Registration, StationParts, Transaction } from '../../../../src/ocpp/v16/parts.ts';
import { TransferError } from '../../../../src/ocpp/files/transfer.ts';
import type { Downloaded, DownloadOptions, FileTransfer, UploadFile } from '../../../../src/ocpp/files/transfer.ts';
import { rig, settled } from '../fakes.ts';
import type { Rig } from '../fakes.ts';

export function expectFits(action: string, side: 'request' | 'reply', payload: unknown): void {
  expect(payloadChecks.check('ocpp1.6', action, side, payload), `${action} ${side}`).to.equal(null);
}

export interface UpkeepRig extends Rig {
  readonly parts: StationParts;
  /** raised security events */
  readonly events: (readonly [type: string, techInfo: string | undefined])[];
  readonly logged: string[];
  readonly after: (act: () => void) => void;
  /** Carries out what follows an answer. */
  answered(): Promise<void>;
  /** BootNotification is answered with Accepted, or the line of an accepted station is open again. */
  accept(): Promise<void>;
  /** The station is not accepted any more, or the line is down. */
  lose(): void;
  /** payloads of an action, whose values a test reads; each fits its schema */
  told(action: string): readonly Payload[];
  /** `status` of each of them, with `requestId` where there is one */
  statuses(action: string): readonly string[];
}

/** @param before a rig of an earlier process: its store and its time go on */
export function upkeepRig(before?: Rig): UpkeepRig {
  const made = rig();
  const base: Rig = before === undefined ? made : { ...before, line: made.line, connection: made.connection };
  const listeners = new Set<() => void>();
  const events: UpkeepRig['events'] = [];
  const logged: string[] = [];
  const acts: (() => void)[] = [];
  let accepted = false;
  const registration: Registration = {
    get status() {
      return accepted ? 'accepted' : 'none';
    },
    get isReady() {
      return accepted && base.line.open;
    },
    boot: () => Promise.reject(new Error('not here')),
    heartbeat: () => Promise.reject(new Error('not here')),
    onAccepted(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const log: Logger = {
    ...silentLogger,
    info: (text) => logged.push(text),
    warning: (text) => logged.push(text),
    error: (text) => logged.push(text),
  };
  const parts: StationParts = {
    id: 'CP-1',
    device: base.device.port,
    clock: base.clock,
    wall: base.wall,
    later: base.timers.later,
    random: createRandom(1, 'test'),
    log,
    store: (name) => base.store.slot(name),
    keys: base.keys,
    calls: callsOf(createCalls(base.line, bootTable16, () => registration.status)),
    queue: {} as StationParts['queue'],
    registration,
    security: { raise: (type, techInfo) => events.push([type, techInfo]) },
    connection: base.connection,
    limits: base.limits,
    releases: base.releases,
    finding: base.find,
  };
  const told = (action: string) => {
    const payloads = base.line.of(action);
    for (const payload of payloads) expectFits(action, 'request', payload);
    return payloads;
  };
  return {
    ...base,
    parts,
    events,
    logged,
    after: (act) => acts.push(act),
    answered: async () => {
      for (const act of acts.splice(0)) act();
      await settled();
    },
    async accept() {
      accepted = true;
      base.line.open = true;
      for (const listener of [...listeners]) listener();
      await settled();
    },
    lose() {
      accepted = false;
      base.line.open = false;
    },
    told,
    statuses: (action) =>
      told(action).map(({ status, requestId }) =>
        requestId === undefined ? String(status) : `${String(status)} ${Number(requestId)}`,
      ),
  };
}

interface Asked<T> {
  readonly location: string;
  readonly signal: AbortSignal;
  resolve(value: T): void;
  fail(error: Error): void;
}

/** Transfers that a test ends; the oldest one that is under way comes first. */
export function handTransfer() {
  const downloads: (Asked<Downloaded> & { readonly chunk: (octets: Buffer) => void })[] = [];
  const uploads: (Asked<void> & { readonly file: UploadFile })[] = [];
  const begun = <T, More>(list: (Asked<T> & More)[], location: string, signal: AbortSignal, more: More) =>
    new Promise<T>((resolve, reject) => {
      const end = () => {
        const at = list.indexOf(asked);
        if (at >= 0) list.splice(at, 1);
      };
      const asked: Asked<T> & More = {
        ...more,
        location,
        signal,
        resolve(value) {
          end();
          resolve(value);
        },
        fail(error) {
          end();
          reject(error);
        },
      };
      list.push(asked);
      signal.addEventListener('abort', () => {
        asked.fail(new TransferError('cancelled', 'the transfer was cancelled'));
      });
    });
  const transfer: FileTransfer = {
    protocols: ['HTTP', 'HTTPS'],
    download: (location, { signal, chunk }: DownloadOptions) => begun(downloads, location, signal, { chunk }),
    upload: (location, file, signal) => begun(uploads, location, signal, { file }),
  };
  return {
    transfer,
    downloads,
    uploads,
    /** The file of the oldest download arrives, in two pieces. */
    async deliver(text: string, name = 'fw.bin') {
      const [download] = downloads;
      if (download === undefined) throw new Error('no download is under way');
      const octets = Buffer.from(text);
      const half = Math.ceil(octets.length / 2);
      for (const piece of [octets.subarray(0, half), octets.subarray(half)]) download.chunk(piece);
      download.resolve({ name, octets: octets.length });
      await settled();
    },
    async fail(failure: TransferError['failure'] = 'broken') {
      const [asked] = [...downloads, ...uploads];
      if (asked === undefined) throw new Error('no transfer is under way');
      asked.fail(new TransferError(failure, 'the server answers 500'));
      await settled();
    },
    async take(): Promise<UploadFile> {
      const [upload] = uploads;
      if (upload === undefined) throw new Error('no upload is under way');
      upload.resolve();
      await settled();
      return upload.file;
    },
  };
}

/** Transactions of which only the connectors count. */
export function handTransactions() {
  const running: Transaction[] = [];
  const listeners = new Set<(transaction: Transaction) => void>();
  const stopped: string[] = [];
  return {
    stopped,
    fail: null as Error | null,
    begin(connectorId: number) {
      running.push({ connectorId } as Transaction);
    },
    end(connectorId: number) {
      const at = running.findIndex((each) => each.connectorId === connectorId);
      const [ended] = running.splice(at, 1);
      if (ended !== undefined) for (const listener of [...listeners]) listener(ended);
    },
    part: {
      running,
      at: (connectorId: number) => running.find((each) => each.connectorId === connectorId) ?? null,
      stopAll(reason: string) {
        stopped.push(reason);
      },
      onEnded(listener: (transaction: Transaction) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
}
