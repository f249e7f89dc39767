/**
 * Divides the limits of all scopes into one bound per device and direction. Power absorbed inside a scope leaves room
 * for injection, and the other way round: each direction counts on the power that the other direction surely
 * reaches under its share.
 */
import { keptArray, keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { FleetShares, SideShares } from '../../contract/fleet-site.ts';
import type { SiteLimitName } from '../../contract/site.ts';
import { createClaims, createNest, shareRooms } from './sharing.ts';
import type { Claims, Nest } from './sharing.ts';

/** One scope with at least one limit. */
export interface AllocatedScope {
  /** positions of its devices, at least one */
  readonly members: readonly number[];
  /** W; Infinity: no limit */
  readonly limitsW: Readonly<Record<SiteLimitName, number>>;
}

/** Rounds after which injection counts on no absorption in scopes whose shares have not converged. */
const maxRounds = 8;
/** Rounding of sums, W. */
const negligibleW = 1e-3;
/** Shares have converged when they fall short by less, W: they fill a room only to the rounding of a sum. */
const convergedW = 1e-6;

/** One direction: its claims, its rooms, and the limit that makes each room. */
interface Side {
  readonly claims: Claims;
  readonly nest: Nest;
  /** + injects */
  readonly sign: 1 | -1;
  /** limit of the power of this direction */
  readonly grossLimit: 'generation' | 'load';
  readonly netLimit: 'export' | 'import';
  /** one entry per scope; true: the limit of the net power is the tighter one */
  readonly netTighter: boolean[];
  /** power that the devices of each scope surely reach in this direction, W */
  readonly assuredW: Float64Array;
}

function keptSide({ claims, nest, netTighter }: Side): Kept {
  return keptParts({
    shareW: keptArray(claims.shareW),
    cutBy: keptArray(claims.cutBy),
    endedBy: keptArray(claims.endedBy),
    limits: keptRecord(
      () => ({ binds: nest.rooms.map(({ binds }) => binds), netTighter }),
      (saved) => {
        nest.rooms.forEach((room, r) => {
          room.binds = saved.binds[r] ?? false;
          netTighter[r] = saved.netTighter[r] ?? false;
        });
      },
    ),
  });
}

function sideShares({ claims: { shareW, cutBy, endedBy }, nest, netTighter }: Side): SideShares {
  return { shareW, cutBy, endedBy, binds: nest.rooms.map(({ binds }) => binds), netTighter };
}

function takeSide(side: Side, { shareW, cutBy, endedBy, binds, netTighter }: SideShares): void {
  side.claims.shareW.set(shareW);
  side.claims.cutBy.set(cutBy);
  side.claims.endedBy.set(endedBy);
  side.nest.rooms.forEach((room, r) => {
    room.binds = binds[r] ?? false;
    side.netTighter[r] = netTighter[r] ?? false;
  });
}

export class Allocation {
  readonly #scopes: readonly AllocatedScope[];
  readonly #injecting: Side;
  readonly #absorbing: Side;
  /** power that each device surely reaches, + injected, W; filled by the caller, like the claims */
  readonly reachW: Float64Array;
  /** local loads of each scope, the lower and the higher sum of the two ends of the piece, W; filled by the caller */
  readonly minLoadW: Float64Array;
  readonly maxLoadW: Float64Array;
  /** consumption of sleeping devices of each scope, which cannot be limited, W; filled by the caller */
  readonly sleepW: Float64Array;
  /** absorption that injection counts on, by scope, W */
  readonly #countedW: Float64Array;
  /** positions of the scopes whose two directions depend on each other: a device alone has one direction at a time */
  readonly #coupled: readonly number[];

  /** @param scopes nested or disjoint, inner ones before outer ones @param count number of devices */
  constructor(scopes: readonly AllocatedScope[], count: number) {
    const side = (sign: 1 | -1): Side => ({
      claims: createClaims(count),
      nest: createNest(
        scopes.map(({ members }) => members),
        count,
      ),
      sign,
      grossLimit: sign > 0 ? 'generation' : 'load',
      netLimit: sign > 0 ? 'export' : 'import',
      netTighter: scopes.map(() => false),
      assuredW: new Float64Array(scopes.length),
    });
    this.#scopes = scopes;
    this.#injecting = side(1);
    this.#absorbing = side(-1);
    this.reachW = new Float64Array(count);
    this.minLoadW = new Float64Array(scopes.length);
    this.maxLoadW = new Float64Array(scopes.length);
    this.sleepW = new Float64Array(scopes.length);
    this.#countedW = new Float64Array(scopes.length);
    this.#coupled = [...scopes.keys()].filter((s) => {
      const scope = scopes[s];
      return scope && scope.members.length > 1 && Math.min(scope.limitsW.export, scope.limitsW.import) < Infinity;
    });
  }

  /** State that a restart keeps: the last shares and their causes. Demands and rooms are read again for new shares. */
  kept(): Kept {
    return keptParts({
      injecting: keptSide(this.#injecting),
      absorbing: keptSide(this.#absorbing),
      minLoadW: keptArray(this.minLoadW),
      maxLoadW: keptArray(this.maxLoadW),
    });
  }

  /** The last shares with their causes, which later ones overwrite. */
  get shares(): FleetShares {
    return { injecting: sideShares(this.#injecting), absorbing: sideShares(this.#absorbing) };
  }

  /** Takes over shares that another allocation has made. @param shares as many of them as there are devices */
  take({ injecting, absorbing }: FleetShares): void {
    takeSide(this.#injecting, injecting);
    takeSide(this.#absorbing, absorbing);
  }

  get injecting(): Claims {
    return this.#injecting.claims;
  }

  get absorbing(): Claims {
    return this.#absorbing.claims;
  }

  /** Fills the shares from demands, reach and loads. */
  allocate(): void {
    const [injecting, absorbing] = [this.#injecting, this.#absorbing];
    injecting.assuredW.fill(0);
    if (this.#coupled.length === 0) {
      absorbing.assuredW.fill(0);
      this.#share(injecting, absorbing.assuredW);
      this.#share(absorbing, injecting.assuredW);
      return;
    }
    // the upper bound: absorption beside unlimited injection
    for (const s of this.#coupled) injecting.assuredW[s] = Infinity;
    this.#share(absorbing, injecting.assuredW);
    this.#assure(absorbing);
    this.#countedW.set(absorbing.assuredW);
    this.#settle();
  }

  /**
   * The scope and limit that hold a device at this power: the limit that cut its share below its demand, or, at the
   * end of its share, the limit that allows no more; null: none.
   */
  cutOf(position: number, powerW: number): { readonly scope: number; readonly limit: SiteLimitName } | null {
    const side = powerW > 0 || this.#injecting.claims.cutBy[position] !== -1 ? this.#injecting : this.#absorbing;
    const { claims, netTighter, grossLimit, netLimit, sign } = side;
    const atEnd = sign * powerW >= (claims.shareW[position] ?? Infinity) - negligibleW;
    const cutBy = claims.cutBy[position] ?? -1;
    const scope = cutBy < 0 && atEnd ? (claims.endedBy[position] ?? -1) : cutBy;
    return scope < 0 ? null : { scope, limit: netTighter[scope] ? netLimit : grossLimit };
  }

  /** True if the last shares were cut because of this limit. */
  binds(scope: number, limit: SiteLimitName): boolean {
    const side = limit === 'export' || limit === 'generation' ? this.#injecting : this.#absorbing;
    return (side.nest.rooms[scope]?.binds ?? false) && side.netTighter[scope] === (limit === side.netLimit);
  }

  /** Repeats rounds until injection counts only on absorption that is reached. */
  #settle(): void {
    for (let round = 0; ; round += 1) {
      const presentW = this.#round();
      const short = (s: number) => (presentW[s] ?? 0) < (this.#countedW[s] ?? 0) - convergedW;
      if (!this.#coupled.some(short)) return;
      for (const s of this.#coupled) {
        if (round < maxRounds) this.#countedW[s] = presentW[s] ?? 0;
        else if (short(s) || round >= 2 * maxRounds) this.#countedW[s] = 0;
      }
    }
  }

  /** Shares injection under the absorption counted on, then absorption under the injection that follows. */
  #round(): Float64Array {
    this.#share(this.#injecting, this.#countedW);
    this.#assure(this.#injecting);
    this.#share(this.#absorbing, this.#injecting.assuredW);
    this.#assure(this.#absorbing);
    return this.#absorbing.assuredW;
  }

  /** Shares rooms, each the tighter of the limit of this direction and what the limit of the net power leaves. */
  #share(side: Side, oppositeW: Float64Array): void {
    const { claims, nest, grossLimit, netLimit, netTighter } = side;
    const loadW = side.sign > 0 ? this.minLoadW : this.maxLoadW;
    this.#scopes.forEach(({ limitsW }, s) => {
      const sleepW = this.sleepW[s] ?? 0;
      const grossW = limitsW[grossLimit] - (side.sign > 0 ? 0 : sleepW);
      const netW = limitsW[netLimit] + side.sign * ((loadW[s] ?? 0) + sleepW) + (oppositeW[s] ?? 0);
      const room = nest.rooms[s];
      if (room) room.roomW = Math.max(0, Math.min(grossW, netW));
      netTighter[s] = netW < grossW;
    });
    shareRooms(claims, nest);
  }

  /** Power that the devices of each coupled scope surely have within their shares. */
  #assure({ claims: { demandW, shareW }, sign, assuredW }: Side): void {
    for (const s of this.#coupled) {
      let sum = 0;
      for (const i of this.#scopes[s]?.members ?? [])
        sum += Math.max(0, Math.min(shareW[i] ?? 0, demandW[i] ?? 0, sign * (this.reachW[i] ?? 0)));
      assuredW[s] = sum;
    }
  }
}
