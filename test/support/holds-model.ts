/**
 * The reference of holds: every point is a stack of layers, and its value is that of the topmost one. A write of a master
 * is a layer that stays; the layer of a hold is taken out when the hold ends, or when another hold of its owner writes
 * the point. Nothing here knows bases, writers or registers.
 */
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import type { Ended, Values } from './holds.ts';

interface Layer {
  /** null: of nobody who would take it away again */
  readonly hold: ModelHold | null;
  readonly value: AnyPointValue;
}

interface ModelHold {
  readonly owner: string;
  readonly id: string;
  /** how a point was lost to another hold of the owner */
  readonly lost: Map<string, 'handedOver' | 'left'>;
  readonly names: Set<string>;
}

/** The timer that would end the effect of a point, by name. */
export function timerOf(name: string): string | null {
  const of704 = /^704\.(WMaxLimPct|WSet|VarSet|PFWInj|PFWAbs)(Ena|Pct|\.PF|\.Ext)?$/.exec(name);
  if (of704) return `704.${of704[1]!}RvrtTms`;
  const curve = /^(705|706|711|712)\.(Ena$|Crv\[0\]|Ctl\[0\])/.exec(name);
  return curve ? `${curve[1]!}.RvrtTms` : null;
}

const reactive = ['704.PFWInjEna', '704.PFWAbsEna', '704.VarSetEna', '705.Ena', '712.Ena'];

export class HoldsModel {
  readonly #points = new Map<string, Layer[]>();
  readonly #holds: ModelHold[] = [];

  constructor(start: Values) {
    for (const [name, value] of Object.entries(start)) this.#points.set(name, [{ hold: null, value }]);
  }

  value(name: string): AnyPointValue {
    return this.#top(name).value;
  }

  get names(): readonly string[] {
    return [...this.#points.keys()];
  }

  ids(owner: string): readonly string[] {
    return this.#holds.filter((hold) => hold.owner === owner).map(({ id }) => id);
  }

  /** Points of a hold that are not its own at present. */
  overwritten(owner: string, id: string): readonly string[] {
    const hold = this.#hold(owner, id);
    return [...hold.names].filter((name) => this.#top(name).hold !== hold);
  }

  foreign(values: Values): void {
    for (const [name, value] of Object.entries(values)) this.#points.get(name)!.push({ hold: null, value });
  }

  /** All points as they are, by nobody's hold: the start of the device. */
  reset(start: Values): void {
    this.#holds.length = 0;
    for (const [name, value] of Object.entries(start)) this.#points.set(name, [{ hold: null, value }]);
  }

  begin(owner: string, id: string, values: Values, end: readonly string[] = []): readonly Ended[] {
    const wanted = new Map(Object.entries(values));
    if (reactive.some((name) => wanted.get(name) === 'ENABLED')) {
      for (const name of reactive) if (!wanted.has(name)) wanted.set(name, 'DISABLED');
    }
    for (const name of [...wanted.keys()]) {
      const timer = timerOf(name);
      if (timer !== null && !wanted.has(timer)) wanted.set(timer, 0);
    }
    const hold: ModelHold = { owner, id, lost: new Map(), names: new Set(wanted.keys()) };
    for (const [name, value] of wanted) this.#take(hold, name, value);
    const ended = this.end(owner, end);
    this.#holds.push(hold);
    return ended;
  }

  end(owner: string, ids: readonly string[]): readonly Ended[] {
    const ending = ids.map((id) => this.#hold(owner, id));
    return ending.map((hold) => {
      const result = { id: hold.id, restored: [] as string[], left: [] as string[], handedOver: [] as string[] };
      for (const name of hold.names) {
        const lost = hold.lost.get(name);
        if (lost) result[lost].push(name);
        else if (this.#top(name).hold !== hold) result.left.push(name);
        else {
          const heir = this.#holds.find(
            (other) =>
              other.owner === owner &&
              !ending.includes(other) &&
              [...other.names].some((each) => timerOf(each) === name && this.#keeps(other, each)),
          );
          if (heir) this.#take(heir, name, 0);
          result[heir ? 'handedOver' : 'restored'].push(name);
        }
        this.#remove(hold, name);
      }
      this.#holds.splice(this.#holds.indexOf(hold), 1);
      return result;
    });
  }

  /** A hold writes a point, in place of any other hold of its owner. */
  #take(hold: ModelHold, name: string, value: AnyPointValue): void {
    const former = this.#points.get(name)!.find((layer) => layer.hold?.owner === hold.owner)?.hold;
    if (former) {
      former.lost.set(name, this.#top(name).hold === former ? 'handedOver' : 'left');
      this.#remove(former, name);
    }
    this.#points.get(name)!.push({ hold, value });
    hold.names.add(name);
    hold.lost.delete(name);
  }

  /** Whether nothing lies over the point of a hold that stays there. */
  #keeps(hold: ModelHold, name: string): boolean {
    const layers = this.#points.get(name)!;
    const at = layers.findIndex((layer) => layer.hold === hold);
    return at >= 0 && layers.slice(at).every((layer) => layer.hold !== null);
  }

  #remove(hold: ModelHold, name: string): void {
    this.#points.set(
      name,
      this.#points.get(name)!.filter((layer) => layer.hold !== hold),
    );
  }

  #top(name: string): Layer {
    return this.#points.get(name)!.at(-1)!;
  }

  #hold(owner: string, id: string): ModelHold {
    return this.#holds.find((hold) => hold.owner === owner && hold.id === id)!;
  }
}
