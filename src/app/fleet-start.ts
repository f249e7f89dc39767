/** A shard finds its fleet before its plant is made: the instant, the tick and the anchors of the spread. */
import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { AppConfig } from '../config/settings/app-config.ts';
import type { FleetSettings } from '../contract/fleet-settings.ts';
import { SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { ShardStart } from '../fleet/clock/join.ts';
import type { ClockRecord } from '../fleet/clock/record.ts';
import { clockStart } from './devices/plant.ts';
import { keptClock } from './kept-clock.ts';
import { stateToRead } from './state.ts';
import type { State } from './state.ts';

const digests = new WeakMap<object, string>();

/** Profiles of equal values have one digest. */
function digestOf(profile: object): string {
  const digest = digests.get(profile) ?? createHash('sha256').update(JSON.stringify(profile)).digest('base64url');
  digests.set(profile, digest);
  return digest;
}

/** Index of the first device of each profile, by the digest of the profile. */
function firstIndexes({ devices, firstDevice }: AppConfig): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  devices.forEach(({ profile }, position) => {
    const digest = digestOf(profile);
    if (!first.has(digest)) first.set(digest, firstDevice + position);
  });
  return first;
}

/**
 * The clock of a fleet that begins with this process.
 * @param state kept by an earlier process, which the fleet goes on from; null: none
 */
export function firstRecord(
  config: Pick<AppConfig, 'clock' | 'tickS'>,
  wall: WallClock,
  nowMs: number,
  state: Pick<State, 'values'> | null,
): ClockRecord {
  const { settings, startUs } = clockStart(config, wall);
  const kept = state && keptClock(config, wall, state);
  return {
    ...(kept?.clock.settings ?? settings),
    fleet: randomUUID(),
    seq: 0,
    term: 0,
    tickS: config.tickS,
    tick0: kept?.tick ?? 0,
    wall0Ms: nowMs,
    sim0Us: kept?.clock.tickTime ?? startUs,
    startUs,
    shiftMs: kept?.clock.shiftMs ?? 0,
    madeMs: nowMs,
    changedBy: null,
    steppedBy: null,
  };
}

export interface AroundStart {
  readonly wall: WallClock;
  readonly later: Later;
  readonly log: Logger;
}

/**
 * Finds the fleet of a configuration, or begins it.
 * @returns null: the configuration has no fleet
 * @throws SimError LISTEN_FAILED: no server in time, or refused credentials
 */
export async function findFleet(config: AppConfig, around: AroundStart): Promise<ShardStart | null> {
  if (config.fleet === null) return null;
  const { FleetError } = await import('../fleet/link.ts');
  try {
    return await joined(config, config.fleet, around);
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    throw new SimError('LISTEN_FAILED', `the fleet cannot be joined: ${error.message}`);
  }
}

async function joined(
  config: AppConfig,
  settings: FleetSettings,
  { wall, later, log }: AroundStart,
): Promise<ShardStart> {
  const [{ connectFleet }, { linkOptionsOf }, { joinFleet }, { FleetTime }, { askTime }] = await Promise.all([
    import('../fleet/connect.ts'),
    import('../fleet/settings-of-link.ts'),
    import('../fleet/clock/join.ts'),
    import('../fleet/clock/time.ts'),
    import('../fleet/clock/member.ts'),
  ]);
  const { prefix } = settings;
  const { stateDir } = config;
  const link = await connectFleet({ ...linkOptionsOf(settings), name: `derbench shard of ${hostname()}`, log });
  try {
    const time = new FleetTime({ wall, later, tickS: config.tickS, ask: askTime(link, prefix) });
    await time.measure(true);
    const fleet = await joinFleet({
      link,
      first: () => firstRecord(config, wall, time.nowMs(), stateDir === null ? null : stateToRead(stateDir)),
      profiles: firstIndexes(config),
      nowMs: () => time.nowMs(),
    });
    return { ...fleet, anchorOf: (profile) => fleet.anchors.get(digestOf(profile)) };
  } finally {
    await link.close();
  }
}
