/** Judges writes to a SunSpec map: places, values, rights, and repetitions. */
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Peer } from '../../../core/findings/peer.ts';
import type { RuleHandle } from '../../../core/findings/rule.ts';
import type { Role } from '../access/certificate-role.ts';
import { followSettings } from './map-bridge.ts';
import type { JudgedMap, WriteFacts } from './map-bridge.ts';
import { Episode } from './request.ts';
import type { JudgeContext, JudgedRequest, ServedRequest } from './request.ts';

/** Exceptions that ask the master to try again: acknowledge, busy, and those of gateways. */
const temporary: ReadonlySet<number> = new Set([5, 6, 10, 11]);
const minRepetitions = 3;
const patienceMs = 60_000;
const hourMs = 3_600_000;
const maxSettings = 16;

/** The last settings of one device. */
interface Settings {
  /** null: none yet */
  writer: Peer | null;
  /** by registers */
  readonly checksums: Map<string, number>;
}

export class WriteJudge {
  readonly #context: JudgeContext;
  /** by bank, which ends with its device */
  readonly #settings = new WeakMap<JudgedMap['bank'], Settings>();

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** @param role of a TLS session, as in `Requester` */
  judge(request: ServedRequest, map: JudgedMap, facts: WriteFacts, role: Role | null | undefined): void {
    this.#judgePlaces(request, facts);
    if (role !== undefined) this.#judgeRole(request, facts, role);
    this.#judgeValues(request, map);
    this.#judgeLocalControl(request);
    if (request.exception === 0) {
      request.device.refusedWrite = null;
      if (facts.isSettings) this.#judgeSettings(request, this.#settingsOf(map));
    } else this.judgeRepetition(request);
  }

  /** Takes a refused write, whatever has refused it. */
  judgeRepetition(request: ServedRequest): void {
    const { device, exception, error, nowMs, address, words } = request;
    if (temporary.has(exception) || error?.code === 'MAP_LOCAL_CONTROL') return;
    const rule = this.#context.rules.refused_write_repeated;
    const before = device.refusedWrite;
    const isSame = before?.address === address && before.words.equals(words);
    if (!isSame || nowMs - before.lastMs > patienceMs) {
      device.refusedWrite = { address, words: Buffer.from(words), repetitions: 0, lastMs: nowMs };
      rule.exercised(request.peer);
      return;
    }
    before.repetitions += 1;
    before.lastMs = nowMs;
    const { repetitions } = before;
    if (repetitions < minRepetitions) return;
    rule.broken(
      request.peer,
      request.deviceIndex,
      () => ({
        text: `wrote ${request.registers} ${repetitions + 1} times with the same values, refused with exception ${exception}`,
        facts: { registers: request.registers, writes: repetitions + 1, exception },
        ...request.evidence(),
      }),
      request.registers,
    );
  }

  /** Takes a read: the master has looked at what it wrote. */
  read({ device, address, end }: ServedRequest): void {
    const refused = device.refusedWrite;
    if (refused === null) return;
    const isRead = address < refused.address + refused.words.length / 2 && end > refused.address;
    if (isRead) device.refusedWrite = null;
  }

  #judgePlaces(request: JudgedRequest, { cut, readOnly, scaleFactor, setInForce }: WriteFacts): void {
    const { rules } = this.#context;
    this.#judgePlace(rules.write_part_of_point, request, cut, (point) => `a part of ${point}`);
    this.#judgePlace(rules.write_read_only, request, readOnly, (point) => `${point}, which is read only`);
    this.#judgePlace(rules.write_scale_factor, request, scaleFactor, (point) => `the scale factor ${point}`);
    this.#judgePlace(rules.write_set_in_force, request, setInForce, (point) => `${point} of the set in force`);
  }

  #judgePlace(
    rule: RuleHandle,
    request: JudgedRequest,
    point: string | null,
    inWords: (point: string) => string,
  ): void {
    if (point === null) rule.exercised(request.peer);
    else
      rule.broken(
        request.peer,
        request.deviceIndex,
        () => ({
          text: `wrote ${request.registers} with ${inWords(point)}`,
          facts: { registers: request.registers, point },
          ...request.evidence(),
        }),
        point,
      );
  }

  #judgeRole(request: JudgedRequest, { hasPublishedRights }: WriteFacts, role: Role | null): void {
    const { role_insufficient: insufficient } = this.#context.rules;
    if (role === null) return;
    if (request.error?.code !== 'ACCESS_DENIED') insufficient.exercised(request.peer);
    else if (hasPublishedRights)
      insufficient.broken(
        request.peer,
        request.deviceIndex,
        () => ({
          text: `wrote ${request.registers} with the role ${role}`,
          facts: { registers: request.registers, role },
          ...request.evidence(),
        }),
        request.registers,
      );
  }

  #judgeValues(request: JudgedRequest, map: JudgedMap): void {
    const { not_implemented_written: absent, value_out_of_range: undefinedValue } = this.#context.rules;
    const { error, address, words } = request;
    const fault = error && map.valueFault(address, words, new Set(error.issues.map(({ name }) => name)));
    for (const [rule, kind] of [
      [absent, 'not_implemented'],
      [undefinedValue, 'undefined'],
    ] as const) {
      if (fault?.kind !== kind) {
        rule.exercised(request.peer);
        continue;
      }
      const { point, detail } = fault;
      rule.broken(
        request.peer,
        request.deviceIndex,
        () => ({ text: `wrote ${point}: ${detail}`, facts: { point }, ...request.evidence() }),
        point,
      );
    }
  }

  #judgeLocalControl(request: ServedRequest): void {
    const { device, nowMs } = request;
    const rule = this.#context.rules.local_control_ignored;
    if (request.error?.code !== 'MAP_LOCAL_CONTROL') {
      if (request.exception === 0) device.localRefusals = null;
      return;
    }
    const refused = device.localRefusals;
    device.localRefusals ??= new Episode(nowMs);
    if (refused?.goesOn(nowMs) !== true) {
      rule.exercised(request.peer);
      return;
    }
    const { count, sinceMs } = refused;
    if (count < minRepetitions || nowMs - sinceMs < patienceMs) return;
    rule.broken(request.peer, request.deviceIndex, () => ({
      text:
        `wrote ${request.registers} under local control; writes were refused ${count} times within ` +
        `${Math.round((nowMs - sinceMs) / 1000)} s`,
      facts: { registers: request.registers, refusals: count },
      ...request.evidence(),
    }));
  }

  #settingsOf({ bank }: JudgedMap): Settings {
    let settings = this.#settings.get(bank);
    if (settings === undefined) {
      const checksums = new Map<string, number>();
      settings = { writer: null, checksums };
      followSettings(bank, () => {
        checksums.clear();
      });
      this.#settings.set(bank, settings);
    }
    return settings;
  }

  #judgeSettings(request: ServedRequest, settings: Settings): void {
    const { device, nowMs, registers, words } = request;
    const rule = this.#context.rules.settings_churn;
    if (nowMs - device.settingsSinceMs > hourMs) {
      device.settingsSinceMs = nowMs;
      device.unchangedSettings = 0;
    }
    if (!isUnchanged(settings, request.peer, registers, crc32(words))) {
      rule.exercised(request.peer);
      return;
    }
    device.unchangedSettings += 1;
    const { unchangedSettings } = device;
    if (unchangedSettings < rule.param('writes')) return;
    device.unchangedSettings = 0;
    rule.broken(request.peer, request.deviceIndex, () => ({
      text: `wrote settings ${unchangedSettings} times within an hour without a change, the last time ${registers}`,
      facts: { registers, writes: unchangedSettings },
      ...request.evidence(),
    }));
  }
}

/** True if the peer wrote the registers with the same values before, and nobody else has written since. */
function isUnchanged(settings: Settings, peer: Peer, registers: string, checksum: number): boolean {
  const { checksums } = settings;
  if (settings.writer !== peer) checksums.clear();
  settings.writer = peer;
  const isSame = checksums.get(registers) === checksum;
  if (checksums.size >= maxSettings && !checksums.has(registers)) checksums.clear();
  checksums.set(registers, checksum);
  return isSame;
}
