/** Peers that write different values to one point in turn: each undoes the work of the other. */
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Peer } from '../../core/findings/peer.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { RuleHandles } from '../../core/findings/rule.ts';
import { remoteSources } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { commonRules } from '../../finding-rules/common.ts';
import type { Change } from '../../sunspec/map/bank.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';

/** Points of a device that are followed at a time. */
const maxPoints = 64;
const minuteMs = 60_000;

/** The last remote write of a point, and the turns from one peer to another. */
interface Written {
  readonly by: Origin;
  readonly value: AnyPointValue;
  /** monotonic times of the turns, ms */
  readonly turnsMs: readonly number[];
}

export interface WritersOptions {
  readonly plant: Pick<Plant, 'devices' | 'onDevices'>;
  readonly findings: FindingRegistry;
  readonly rules: RuleHandles<typeof commonRules>;
  readonly wall: WallClock;
}

const withoutPort = (address: string) => address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');

/** True if the peer has made the write. */
function isWriter({ identity, facets }: Peer, { source, peer: writer = '' }: Origin): boolean {
  if (identity.protocol !== source) return false;
  switch (identity.protocol) {
    case 'modbus':
    case 'dnp3':
      return identity.address === withoutPort(writer) || identity.address === writer;
    case 'ocpp':
      return facets.get('station')?.has(writer) === true;
    case 'csip':
      // its writers are the mRIDs of controls
      return true;
  }
}

/** The peer that has made a write; undefined: none, or it could be several. */
function writerOf(findings: FindingRegistry, by: Origin): Peer | undefined {
  const [peer, ...others] = findings.peers.valid.filter((one) => isWriter(one, by));
  return others.length === 0 ? peer : undefined;
}

const isSame = (a: Origin, b: Origin) => a.source === b.source && a.peer === b.peer;

class DeviceWriters {
  readonly #options: WritersOptions;
  readonly #device: Device;
  readonly #written = new Map<PointSlot, Written>();

  constructor(options: WritersOptions, device: Device) {
    this.#options = options;
    this.#device = device;
  }

  note({ points, by }: Change): void {
    if (!this.#options.rules.writers_fight.on) return;
    // the write of a person, or of a timer, begins a new dispute
    for (const slot of points)
      if (remoteSources.includes(by.source)) this.#noteOne(by, slot);
      else this.#written.delete(slot);
  }

  #noteOne(by: Origin, slot: PointSlot): void {
    const last = this.#written.get(slot);
    if (last === undefined && this.#written.size >= maxPoints) return;
    const value = this.#device.bank.value(slot);
    const turnsMs = last === undefined ? [] : this.#turnsAfter(last, by, slot, value);
    this.#written.set(slot, { by, value, turnsMs });
  }

  /** The turns so far, with that of this write; none after a case. */
  #turnsAfter(last: Written, by: Origin, slot: PointSlot, value: AnyPointValue): readonly number[] {
    const { findings, rules, wall } = this.#options;
    if (isSame(last.by, by)) return last.turnsMs;
    const [former, peer] = [writerOf(findings, last.by), writerOf(findings, by)];
    if (former === undefined || peer === undefined || former === peer) return last.turnsMs;
    const nowMs = wall.monotonicMs();
    const sinceMs = nowMs - rules.writers_fight.param('window_min') * minuteMs;
    const turnsMs = [...last.turnsMs, ...(last.value === value ? [] : [nowMs])].filter((ms) => ms > sinceMs);
    if (turnsMs.length < rules.writers_fight.param('turns')) {
      rules.writers_fight.exercised(peer);
      return turnsMs;
    }
    this.#accuse(peer, former, slot, turnsMs.length);
    this.#accuse(former, peer, slot, turnsMs.length);
    return [];
  }

  #accuse(peer: Peer, other: Peer, { path, modelName }: PointSlot, turns: number): void {
    const point = `${modelName}.${path}`;
    this.#options.rules.writers_fight.broken(
      peer,
      this.#device.index,
      () => ({
        text: `wrote ${point} in turn with ${other.identity.address} (${other.identity.protocol}), each another value`,
        facts: { point, other: other.identity.address, turns },
      }),
      point,
    );
  }
}

/** Judges the writers of all devices, also of those that join later. */
export function judgeWriters(options: WritersOptions): void {
  const { plant } = options;
  const ends = new Map<number, () => void>();
  const follow = (device: Device) => {
    const writers = new DeviceWriters(options, device);
    ends.set(
      device.index,
      device.bank.onChange((change) => {
        writers.note(change);
      }),
    );
  };
  plant.devices.forEach(follow);
  plant.onDevices(({ added, removed }) => {
    if (removed !== null) {
      ends.get(removed.index)?.();
      ends.delete(removed.index);
    }
    if (added !== null) follow(added);
  });
}
