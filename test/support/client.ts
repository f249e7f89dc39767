/** The SunSpec client against a peer of a test. */
import type {
  ClientStatus,
  ClientTarget,
  ModelReading,
  PointReading,
  TransactionIds,
} from '../../src/contract/sunspec-client.ts';
import { createSunSpecClient } from '../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../src/sunspec/client/client.ts';
import type { ForeignMap } from './foreign-map.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import type { Rule } from './scripted-peer.ts';
import { spentMs } from './spent.ts';

export interface TargetOptions {
  readonly unitId?: number;
  readonly timeoutMs?: number;
  readonly baseAddress?: number | null;
  readonly transactionIds?: TransactionIds;
}

/** A target on loopback, with a short time-out. */
export function loopback(
  port: number,
  { unitId = 1, timeoutMs = 250, baseAddress = null, transactionIds = 'strict' }: TargetOptions = {},
): ClientTarget & { readonly transport: 'tcp' } {
  return { transport: 'tcp', host: '127.0.0.1', port, unitId, timeoutMs, baseAddress, transactionIds };
}

export interface Connected {
  readonly client: SunSpecClientAdapter;
  readonly status: ClientStatus;
}

/** A client that is connected to a device of another maker. */
export async function connectedTo(
  { layout, image }: ForeignMap,
  rule?: Rule,
): Promise<{ peer: ScriptedPeer; client: SunSpecClientAdapter }> {
  const peer = await ScriptedPeer.open(Buffer.from(image), layout.base, rule);
  return { peer, client: (await connected(peer.port)).client };
}

export async function connected(port: number, options: TargetOptions = {}): Promise<Connected> {
  const client = createSunSpecClient();
  return { client, status: await client.connect(loopback(port, options)) };
}

/** All points of a reading by path. */
export function pointsOf({ points, groups }: ModelReading): ReadonlyMap<string, PointReading> {
  return new Map([...points, ...groups.flatMap((group) => group.points)].map((point) => [point.name, point]));
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly protocolCode: number | undefined;
  /** how long it took, without the time of other processes */
  readonly ms: number;
}

/** The error of a call that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const begun = spentMs();
  try {
    await work;
  } catch (error) {
    const { code, message, protocolCode } = error as { code: string; message: string; protocolCode?: number };
    return { code, message, protocolCode, ms: spentMs() - begun };
  }
  throw new Error('it did not fail');
}
