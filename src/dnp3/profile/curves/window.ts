/** The window on the curves: AO244 to AO448 with their mirrors, and BI107. */
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { bindings, computed, success } from '../bind.ts';
import { pointsPerCurve, windowStarts } from '../table/rows.ts';
import type { OutputTarget, PartContext, PointBindings } from '../types.ts';
import { curveUses } from './convert.ts';
import type { Namings } from './naming.ts';
import { curveCount } from './store.ts';
import type { CurveStore, StoredCurve } from './store.ts';

const bound = 'curve in the window';

type Field = 'type' | 'xUnit' | 'yUnit';

interface Member {
  readonly read: (draft: Readonly<StoredCurve>) => number;
  readonly write: (draft: StoredCurve, value: number) => void;
  /** refuses a value that the lock does not */
  readonly refuses?: (value: number) => ControlStatus;
  /** true if a write commits the draft */
  readonly commits?: boolean;
}

/** Makes the outputs of the window. */
class Outputs {
  readonly #context: PartContext;
  readonly #store: CurveStore;
  readonly #namings: Namings;

  constructor(context: PartContext, store: CurveStore, namings: Namings) {
    this.#context = context;
    this.#store = store;
    this.#namings = namings;
  }

  selector(): OutputTarget {
    const store = this.#store;
    const check = (value: number | boolean): ControlStatus =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= curveCount ? success : controlStatus.outOfRange;
    return {
      read: () => store.selected,
      check,
      operate: (value, by) => {
        const status = check(value);
        if (status !== success) return status;
        store.selected = Number(value);
        store.holder.take(by);
        this.#context.changed();
        return success;
      },
      range: () => [1, curveCount],
      bound,
    };
  }

  /** A member of the selected curve. */
  member({ read, write, refuses = () => success, commits = false }: Member): OutputTarget {
    const store = this.#store;
    // clause 6.1.3 of IEEE 1815.2 has the number of points before the points: nothing commits there
    const isInForce = commits || this.#context.profile === 'ieee1815.2';
    const check: OutputTarget['check'] = (value, by) => {
      if (store.holder.isOther(by)) return controlStatus.blockedOtherMaster;
      if (this.#namings.isLocked(store.selected)) return controlStatus.automationInhibit;
      return Number.isInteger(value) ? refuses(Number(value)) : controlStatus.outOfRange;
    };
    return {
      read: () => read(store.draft),
      check,
      operate: (value, by) => {
        const status = check(value, by);
        if (status !== success) return status;
        store.edit((draft) => {
          write(draft, Number(value));
        });
        if (isInForce) store.commit();
        this.#context.changed();
        return success;
      },
      bound,
    };
  }

  field(name: Field, refuses: Member['refuses'] = () => success): OutputTarget {
    return this.member({
      read: (draft) => draft[name],
      write: (draft, value) => {
        draft[name] = value;
      },
      refuses,
    });
  }

  /** A function that names the curve would follow a type other than its own. */
  type(): OutputTarget {
    return this.field('type', (value) => this.#ofNamed(value));
  }

  /** The number of points is written last in the procedure of AN2018, and commits. */
  count(): OutputTarget {
    const store = this.#store;
    return this.member({
      read: ({ count }) => count,
      write: (draft, value) => {
        draft.count = value;
      },
      refuses: (value) => (value > this.#capacity ? controlStatus.outOfRange : this.#ofNamed(store.draft.type)),
      commits: true,
    });
  }

  /** @param i X and Y in turn */
  value(i: number): OutputTarget {
    return this.member({
      read: ({ values }) => values[i] ?? 0,
      write: ({ values }, value) => {
        values[i] = value;
      },
    });
  }

  #ofNamed(type: number): ControlStatus {
    const { selected } = this.#store;
    const isSame = type === this.#store.curve(selected).type;
    return this.#namings.isNamed(selected) && !isSame ? controlStatus.notSupported : success;
  }

  /** Points that the function of the curve can have; of a type that no function of the device follows all are kept. */
  get #capacity(): number {
    const use = curveUses.find(({ type }) => type === this.#store.draft.type);
    const capacity = use === undefined ? 0 : this.#context.port.capacity(use.name);
    return capacity > 0 ? capacity : pointsPerCurve;
  }
}

/** The points of the window. */
export function curveWindow(context: PartContext, store: CurveStore, namings: Namings): PointBindings {
  const outputs = new Outputs(context, store, namings);
  const values = Array.from(
    { length: 2 * pointsPerCurve },
    (_, i) => [`AO${windowStarts.curve.output + i}`, outputs.value(i)] as const,
  );
  return bindings(
    [['BI107', computed(() => namings.isNamed(store.selected), bound)]],
    [
      ['AO244', outputs.selector()],
      ['AO245', outputs.type()],
      ['AO246', outputs.count()],
      ['AO247', outputs.field('xUnit')],
      ['AO248', outputs.field('yUnit')],
      ...values,
    ],
  );
}
