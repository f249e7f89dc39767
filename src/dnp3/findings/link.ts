/** Judges frames and connections of masters. */
import type { Peer } from '../../core/findings/peer.ts';
import { primaryFunction } from '../stack/link.ts';
import type { JudgeContext } from './context.ts';

/** Connections of one request or none, and the time in which they come. */
const [churnConnections, churnMs] = [10, 60_000];

/** Frames to an absent outstation that are a case, the time in which they come, and the start of a connection. */
const [astrayFrames, astrayMs, startUpMs] = [5, 600_000, 60_000];
/** Absent outstations of one connection that are followed. */
const maxAstray = 16;

/** Ends of short connections by peer, monotonic ms: at most ten each. */
const shortEnds = new WeakMap<Peer, readonly number[]>();

export class LinkJudge {
  readonly #judges: JudgeContext;
  /** `127.0.0.1:50123` */
  readonly #address: string;
  readonly #subject: string | null;
  /** by link address, with the requests before this connection */
  readonly #masters = new Map<number, { readonly peer: Peer; readonly requests: number }>();
  readonly #openedMs: number;
  /** monotonic ms of the last frames to absent outstations, by `master outstation` */
  readonly #astray = new Map<string, readonly number[]>();

  constructor(judges: JudgeContext, address: string, subject: string | null) {
    this.#judges = judges;
    this.#address = address;
    this.#subject = subject;
    this.#openedMs = judges.nowMs;
  }

  /** A master has begun to use the connection. */
  joined(master: number, outstation: number): void {
    this.#judges.guard(() => {
      this.#judges.served.add(outstation);
      if (!this.#judges.on || this.#masters.has(master)) return;
      const peer = this.#judges.peerOf(`${master}@${this.#address}`);
      this.#masters.set(master, { peer, requests: peer.requests });
      peer.connected(this.#judges.wallMs);
      if (this.#subject !== null) peer.facet('certificate', this.#subject);
    });
  }

  /** A frame with user data has come. @param control its control octet */
  carried(master: number, control: number): void {
    this.#judges.guard(() => {
      const { peer } = this.#masters.get(master) ?? {};
      if (peer === undefined) return;
      this.#judges.rules.address_wrong.exercised(peer);
      const rule = this.#judges.rules.link_confirmed;
      if ((control & 0x0f) !== primaryFunction.confirmedUserData) rule.exercised(peer);
      else rule.broken(peer, null, () => ({ text: 'sent CONFIRMED_USER_DATA over TCP', facts: { control } }));
    });
  }

  /** A frame has come for an outstation that is not there. */
  strayed(master: number, outstation: number): void {
    this.#judges.guard(() => {
      const { nowMs, rules, served } = this.#judges;
      const { peer } = this.#masters.get(master) ?? {};
      if (peer === undefined || served.has(outstation) || nowMs - this.#openedMs < startUpMs) return;
      const key = `${master} ${outstation}`;
      if (!this.#astray.has(key) && this.#astray.size >= maxAstray) return;
      const times = [...(this.#astray.get(key) ?? []).slice(1 - astrayFrames), nowMs];
      this.#astray.set(key, times);
      const [firstMs = nowMs] = times;
      if (times.length < astrayFrames || nowMs - firstMs > astrayMs) return;
      this.#astray.delete(key);
      rules.address_wrong.broken(
        peer,
        null,
        () => ({
          text: `sent ${astrayFrames} frames to the address ${outstation}, which no outstation has`,
          facts: { outstation, frames: astrayFrames, within_s: Math.round((nowMs - firstMs) / 1000) },
        }),
        String(outstation),
      );
    });
  }

  /** Octets have come. @param bad dropped frames among them @param good the others */
  received(bad: number, good: number): void {
    this.#judges.guard(() => {
      if (bad > 0) for (const { peer } of this.#masters.values()) this.#judges.losses.add(peer);
      const [only, ...others] = this.#masters.values();
      if (only === undefined || others.length > 0) return;
      const rule = this.#judges.rules.link_bad;
      if (bad === 0 && good > 0) rule.exercised(only.peer);
      if (bad > 0)
        rule.broken(only.peer, null, () => ({ text: 'sent a frame with a wrong checksum or length', facts: { bad } }));
    });
  }

  /** Segments of a master have come that make no whole fragment. */
  lost(master: number): void {
    this.#judges.guard(() => {
      const { peer } = this.#masters.get(master) ?? {};
      if (peer !== undefined) this.#judges.losses.add(peer);
    });
  }

  /** The connection has ended. @param isByPeer false: this simulator has ended it */
  closed(isByPeer: boolean): void {
    this.#judges.guard(() => {
      for (const { peer, requests } of this.#masters.values()) {
        peer.disconnected(this.#judges.wallMs);
        if (isByPeer) this.#judgeChurn(peer, peer.requests - requests);
      }
      this.#masters.clear();
    });
  }

  #judgeChurn(peer: Peer, requests: number): void {
    const rule = this.#judges.rules.connection_churn;
    if (requests === 0) return;
    if (requests > 1) {
      rule.exercised(peer);
      shortEnds.delete(peer);
      return;
    }
    const { nowMs } = this.#judges;
    const ends = [...(shortEnds.get(peer) ?? []).slice(1 - churnConnections), nowMs];
    shortEnds.set(peer, ends);
    const [firstMs = nowMs] = ends;
    if (ends.length < churnConnections || nowMs - firstMs > churnMs) return;
    shortEnds.delete(peer);
    rule.broken(peer, null, () => ({
      text: `made ${churnConnections} connections of one request each in ${Math.round((nowMs - firstMs) / 1000)} s`,
    }));
  }
}
