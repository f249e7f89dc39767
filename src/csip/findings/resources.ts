/** Judges the DeviceCapability, the Time, and the lists with their order. */
import type { DeviceCapability, EndDevice, FunctionSetAssignments, Time } from '../xml/documents.ts';
import type { DERControl, DERProgram } from '../xml/documents.ts';
import type { Received } from '../xml/schema.ts';
import type { SeenAnswer } from '../transport/exchange.ts';
import type { SeenList } from '../walk/reader.ts';
import type { WalkTarget } from '../walk/model.ts';
import { sfdiOf } from '../../contract/csip-identity.ts';
import { pathOf, Remembered } from './model.ts';
import type { JudgeParts } from './model.ts';

/** Times of one server that are followed: its own and those of FSAs. */
const maxTimes = 8;
/** Lists of FunctionSetAssignments that are followed. */
const maxLists = 32;
/** Registrations that are waited for. */
const maxRegistrations = 64;
/** Difference of the clocks of both sides up to which an expired certificate is one for both, s. */
const sameDayS = 86_400;
/** Drift of the clocks of both sides against each other that is no jump. */
const drift = 1e-4;
/** Time around a change of dstOffset within which both local times are right, s. */
const changeS = 3600;

/** A Time, and the clocks of this machine when it was read. */
interface TimeReading {
  /** currentTime, s */
  readonly atS: number;
  readonly monotonicMs: number;
  readonly wallMs: number;
  readonly durationMs: number;
}

/** A POST of an EndDevice that the server has accepted. */
interface Registration {
  readonly sfdi: number;
  /** on `WallClock.monotonicMs` */
  readonly atMs: number;
  /** whole lists since then without it */
  readonly misses: number;
}

export interface ResourceJudgeOptions {
  /** true: the connection uses TLS, so that the server knows the client */
  readonly isSecure: boolean;
  /** LFDI of the certificate; undefined: none */
  readonly ownLfdi: string | undefined;
  /** LFDIs of the EndDevices of this client */
  readonly lfdis: ReadonlySet<string>;
  readonly isAggregator: boolean;
}

export class ResourceJudge {
  readonly #parts: JudgeParts;
  readonly #options: ResourceJudgeOptions;
  /** by path */
  readonly #times = new Remembered<TimeReading>(maxTimes);
  /** since when a list of FunctionSetAssignments leads nowhere, ms, by path */
  readonly #idleSinceMs = new Remembered<number>(maxLists);
  /** by LFDI */
  readonly #registrations = new Remembered<Registration>(maxRegistrations);
  /** the last Time, by the monotonic clock, which no change of the clock of this machine moves, s; null: none was read */
  #timeAtZeroS: number | null = null;
  /** the server has shown an EndDevice of this client */
  isKnown = false;

  constructor(parts: JudgeParts, options: ResourceJudgeOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  answered(seen: SeenAnswer): void {
    const { document } = seen;
    if (document?.name === 'DeviceCapability') this.#deviceCapability(document.value, seen);
    if (document?.name === 'Time') this.#time(document.value, seen);
  }

  /** A TLS handshake has succeeded. */
  secured(): void {
    this.#parts.rules.tls_server.exercised(this.#parts.peer);
  }

  /** The certificate of the server, or of its chain, has expired by the clock of this machine. */
  expired(): void {
    const { rules, peer, clock } = this.#parts;
    const aheadS = (this.#timeAtZeroS ?? Infinity) + (clock.monotonicMs() - clock.nowMs()) / 1000;
    if (Math.abs(aheadS) > sameDayS) rules.tls_server.undecided(peer);
    else
      rules.tls_server.broken(peer, null, () => ({
        text: 'a certificate of the server has expired, by the clock of this machine and by that of the server',
        facts: { aheadS: Math.round(aheadS) },
      }));
  }

  /** The server has accepted the POST of an EndDevice. */
  registered({ request: { body }, status }: SeenAnswer): void {
    // 202 leaves it open whether there will be one
    if (body?.name !== 'EndDevice' || status === 202) return;
    const { lFDI, sFDI } = body.value;
    const atMs = this.#parts.clock.monotonicMs();
    if (lFDI !== undefined) this.#registrations.set(lFDI.toUpperCase(), { sfdi: sFDI, atMs, misses: 0 });
  }

  /** Judges a list of which all pages were read. */
  list(list: SeenList): void {
    if (list.name === 'EndDeviceList') this.#registered(list);
    if (list.name === 'FunctionSetAssignmentsList') this.#groups(list);
    if (list.name === 'EndDeviceList') this.#endDevices(list);
    if (list.isWhole && list.isOnePage) this.#order(list);
  }

  /** Judges the identity of an EndDevice of this client, as the list of the server has it. */
  endDevice({ lfdi, deviceIndex }: WalkTarget, { lFDI, sFDI, href }: Received<EndDevice>): void {
    const { rules, peer } = this.#parts;
    this.isKnown = true;
    peer.facet('lfdi', lfdi);
    if (sFDI === undefined) return;
    const sum = Array.from(String(sFDI)).reduce((total, digit) => total + Number(digit), 0);
    const isOwn = lfdi === this.#options.ownLfdi;
    if (sum % 10 === 0 && (!isOwn || sFDI === sfdiOf(lfdi))) rules.lfdi_sfdi.exercised(peer);
    else
      rules.lfdi_sfdi.broken(
        peer,
        deviceIndex,
        () => ({
          text: `the EndDevice of ${lfdi} has the SFDI ${sFDI}; ${sfdiOf(lfdi)} follows from its LFDI`,
          facts: { path: href ?? null, lFDI: lFDI ?? null, sFDI },
        }),
        lfdi,
      );
  }

  #deviceCapability(
    { TimeLink, EndDeviceListLink, MirrorUsagePointListLink }: Received<DeviceCapability>,
    { url, message }: SeenAnswer,
  ): void {
    const { rules, peer } = this.#parts;
    const lacks = [
      ...(TimeLink === undefined ? ['TimeLink'] : []),
      ...(EndDeviceListLink === undefined ? ['EndDeviceListLink'] : []),
    ];
    if (lacks.length === 0) rules.dcap_links.exercised(peer);
    else if (!this.isKnown) rules.dcap_links.undecided(peer);
    else
      rules.dcap_links.broken(peer, null, () => ({
        text: `the DeviceCapability has no ${lacks.join(' and no ')}`,
        facts: { path: pathOf(url) },
        message,
      }));
    if (MirrorUsagePointListLink !== undefined) rules.dcap_mirror_missing.exercised(peer);
    else if (this.isKnown)
      rules.dcap_mirror_missing.broken(peer, null, () => ({
        text: 'the DeviceCapability has no MirrorUsagePointListLink',
        facts: { path: pathOf(url) },
        message,
      }));
  }

  #time(time: Received<Time>, seen: SeenAnswer): void {
    const { currentTime, quality } = time;
    const { rules, peer, clock } = this.#parts;
    const { url, message, middleMonotonicMs: monotonicMs, durationMs } = seen;
    if (quality !== undefined && quality <= 7) rules.time_quality.exercised(peer);
    if (quality !== undefined && quality > 7)
      rules.time_quality.broken(peer, null, () => ({
        text: `the quality of the Time is ${quality}`,
        facts: { path: pathOf(url), quality },
        message,
      }));
    if (currentTime === undefined) return;
    this.#localTime(time, currentTime, seen);
    const before = this.#times.get(pathOf(url));
    const wallMs = clock.nowMs();
    this.#timeAtZeroS = currentTime - monotonicMs / 1000;
    this.#times.set(pathOf(url), { atS: currentTime, monotonicMs, wallMs, durationMs });
    if (before === undefined) return;
    const passedS = (monotonicMs - before.monotonicMs) / 1000;
    const jumpS = currentTime - before.atS - passedS;
    // each Time was taken at some instant of its exchange
    const underWayS = (durationMs + before.durationMs) / 2000;
    const allowedS = rules.time_jump.param('tolerance_s') + underWayS + passedS * drift;
    // a machine that slept has stopped one of its clocks, and a shared clock that was set has moved both sides
    const jumpOfWallS = currentTime - before.atS - (wallMs - before.wallMs) / 1000;
    if (Math.min(Math.abs(jumpS), Math.abs(jumpOfWallS)) <= allowedS) rules.time_jump.exercised(peer);
    else
      rules.time_jump.broken(peer, null, () => ({
        text: `the time of the server moved by ${currentTime - before.atS} s within ${passedS.toFixed(1)} s`,
        facts: { path: pathOf(url), before: before.atS, currentTime, passedS: Math.round(passedS * 10) / 10 },
        message,
      }));
  }

  #localTime(
    { localTime, tzOffset = 0, dstOffset = 0, dstStartTime, dstEndTime }: Received<Time>,
    currentTime: number,
    { url, message }: SeenAnswer,
  ): void {
    const { rules, peer } = this.#parts;
    if (localTime === undefined) return;
    const standard = currentTime + tzOffset;
    const isNear = (changeTime: number | undefined) =>
      changeTime === undefined || Math.abs(currentTime - changeTime) <= changeS;
    const isSummer = currentTime >= (dstStartTime ?? 0) && currentTime < (dstEndTime ?? 0);
    const isOpen = isNear(dstStartTime) || isNear(dstEndTime) || (dstStartTime ?? 0) >= (dstEndTime ?? 0);
    const right = isOpen ? [standard, standard + dstOffset] : [isSummer ? standard + dstOffset : standard];
    if (right.includes(localTime)) rules.time_zone.exercised(peer);
    else
      rules.time_zone.broken(peer, null, () => ({
        text: `localTime is ${localTime}; ${right.join(' or ')} follows from the offsets`,
        facts: { path: pathOf(url), currentTime, tzOffset, dstOffset, localTime },
        message,
      }));
  }

  #groups({ items, url, deviceIndex }: SeenList): void {
    const { rules, peer, clock } = this.#parts;
    const path = pathOf(url);
    const rule = rules.fsa_links;
    const leads = (items as readonly Received<FunctionSetAssignments>[]).some(
      ({ DERProgramListLink: link }) => link?.href !== undefined,
    );
    if (leads) {
      this.#idleSinceMs.delete(path);
      rule.exercised(peer);
      return;
    }
    const nowMs = clock.monotonicMs();
    const sinceMs = this.#idleSinceMs.get(path) ?? nowMs;
    if (this.#idleSinceMs.get(path) === undefined) this.#idleSinceMs.set(path, nowMs);
    if (items.length === 0 || nowMs - sinceMs < rule.param('wait_s') * 1000) rule.undecided(peer);
    else
      rule.broken(
        peer,
        deviceIndex,
        () => ({
          text: `none of ${items.length} FunctionSetAssignments has a DERProgramListLink`,
          facts: { path, forS: Math.round((nowMs - sinceMs) / 1000) },
          sinceMs: clock.nowMs() - (nowMs - sinceMs),
        }),
        path,
      );
  }

  #registered({ items, isWhole, url, deviceIndex }: SeenList): void {
    const { rules, peer, clock } = this.#parts;
    const rule = rules.registration_lost;
    const endDevices = items as readonly Received<EndDevice>[];
    for (const [lfdi, registration] of this.#registrations.entries()) {
      const { sfdi, atMs, misses } = registration;
      const forMs = clock.monotonicMs() - atMs;
      if (endDevices.some(({ lFDI, sFDI }) => lFDI?.toUpperCase() === lfdi || sFDI === sfdi)) rule.exercised(peer);
      else if (!isWhole || misses === 0 || forMs < rule.param('wait_s') * 1000) {
        this.#registrations.set(lfdi, { ...registration, misses: misses + (isWhole ? 1 : 0) });
        continue;
      } else
        rule.broken(
          peer,
          deviceIndex,
          () => ({
            text: `the EndDevice ${lfdi} was accepted, and is not in the list ${Math.round(forMs / 1000)} s later`,
            facts: { path: pathOf(url), lFDI: lfdi, items: items.length },
            sinceMs: clock.nowMs() - forMs,
          }),
          lfdi,
        );
      this.#registrations.delete(lfdi);
    }
  }

  #endDevices({ items, url }: SeenList): void {
    const { rules, peer } = this.#parts;
    const { ownLfdi, lfdis, isAggregator, isSecure } = this.#options;
    if (isAggregator || !isSecure || ownLfdi === undefined || items.length === 0) return;
    const foreign = (items as readonly Received<EndDevice>[]).filter(
      ({ lFDI }) => lFDI !== undefined && !lfdis.has(lFDI.toUpperCase()) && lFDI.toUpperCase() !== ownLfdi,
    );
    if (foreign.length === 0) rules.enddevice_foreign.exercised(peer);
    else
      rules.enddevice_foreign.broken(peer, null, () => ({
        text: `the EndDeviceList of a single device has ${foreign.length} EndDevices of others`,
        facts: { path: pathOf(url), foreign: foreign.length },
      }));
  }

  #order({ name, items, url, deviceIndex }: SeenList): void {
    const { rules, peer } = this.#parts;
    const keys = this.#keysOf(name, items);
    if (keys === null || keys.length < 2) return;
    const at = keys.findIndex((key, place) => place > 0 && isBefore(key, keys[place - 1] ?? key));
    if (at < 0) rules.list_order.exercised(peer);
    else
      rules.list_order.broken(
        peer,
        deviceIndex,
        () => ({
          text: `the item ${at + 1} of the ${name} belongs before the one ahead of it`,
          facts: { path: pathOf(url), item: (keys[at] ?? []).join(' '), ahead: (keys[at - 1] ?? []).join(' ') },
        }),
        name,
      );
  }

  /** The sort keys of the items, smallest first; null: the list has no order that is judged, or a key is absent. */
  #keysOf(name: string, items: SeenList['items']): readonly (readonly number[])[] | null {
    let keys: readonly (readonly (number | undefined)[])[] = [];
    if (name === 'DERControlList')
      keys = (items as readonly Received<DERControl>[]).map(({ interval, creationTime }) => [
        interval?.start,
        creationTime === undefined ? undefined : -creationTime,
      ]);
    else if (name === 'DERProgramList')
      keys = (items as readonly Received<DERProgram>[]).map(({ primacy }) => [primacy]);
    else if (name === 'EndDeviceList')
      // some servers put the EndDevice of an aggregator itself first
      keys = (items as readonly Received<EndDevice>[])
        .filter(({ lFDI }) => lFDI?.toUpperCase() !== this.#options.ownLfdi)
        .map(({ changedTime }) => [changedTime === undefined ? undefined : -changedTime]);
    return keys.some((key) => key.includes(undefined)) ? null : (keys as readonly (readonly number[])[]);
  }
}

function isBefore(key: readonly number[], other: readonly number[]): boolean {
  const place = key.findIndex((value, at) => value !== other[at]);
  return place >= 0 && (key[place] ?? 0) < (other[place] ?? 0);
}
