/** Curves to begin with: defaults of IEEE 1547-2018, flat ones, and the last ones that this browser applied. */
import { signal } from '@preact/signals';
import type { Point } from '../../../kit/plot';

export interface CurvePreset {
  readonly title: string;
  readonly points: readonly Point[];
}

interface Standard extends CurvePreset {
  /** clause, as the title of its button */
  readonly clause?: string;
  /** 100 % of the ordinate, as `dept_ref` names it */
  readonly reference: 'va_max_pct' | 'w_max_pct';
}

/** Half of Table 9 for devices that absorb, in percent of the rating. */
const absorbing = (percent: number): readonly Point[] => [
  [-100, percent],
  [-50, 0],
  [-20, 0],
];
const delivering = (percent: number): readonly Point[] => [
  [20, 0],
  [50, 0],
  [100, -percent],
];

/** Presets of a function. @param absorbs the device can take power in */
function standards(name: string, absorbs: boolean): readonly Standard[] {
  const reference = 'va_max_pct';
  switch (name) {
    case 'volt_var':
      return [
        {
          title: 'IEEE 1547 category A',
          clause: 'IEEE 1547-2018, Table 8',
          reference,
          points: [
            [90, 25],
            [100, 0],
            [100, 0],
            [110, -25],
          ],
        },
        {
          title: 'IEEE 1547 category B',
          clause: 'IEEE 1547-2018, Table 8',
          reference,
          points: [
            [92, 44],
            [98, 0],
            [102, 0],
            [108, -44],
          ],
        },
        {
          title: 'Flat',
          reference,
          points: [
            [92, 0],
            [108, 0],
          ],
        },
      ];
    case 'volt_watt':
      return [
        {
          title: 'IEEE 1547 categories A and B',
          clause: 'IEEE 1547-2018, Table 10',
          reference: 'w_max_pct',
          points: [
            [106, 100],
            [110, 0],
          ],
        },
        {
          title: 'Flat',
          reference: 'w_max_pct',
          points: [
            [106, 100],
            [110, 100],
          ],
        },
      ];
    case 'watt_var':
      return [
        ...(
          [
            ['A', 25],
            ['B', 44],
          ] as const
        ).map(
          ([category, percent]) =>
            ({
              title: `IEEE 1547 category ${category}`,
              clause: 'IEEE 1547-2018, Table 9',
              reference,
              points: [...(absorbs ? absorbing(percent) : []), ...delivering(percent)],
            }) as const,
        ),
        {
          title: 'Flat',
          reference,
          points: [
            [absorbs ? -100 : 20, 0],
            [100, 0],
          ],
        },
      ];
    default:
      return [];
  }
}

interface Conditions {
  readonly absorbs: boolean;
  /** `dept_ref` of the edited set */
  readonly deptRef: unknown;
  /** 100 % of a reference in kW or kvar; null: not known */
  readonly referenceOf: (reference: unknown, negative: boolean) => number | null;
}

export interface OfferedPreset extends CurvePreset {
  readonly clause: string | undefined;
  /** reason why its points cannot be told in the reference of the curve; null: they can */
  readonly unable: string | null;
}

/** The presets of a function, with ordinates in the reference of the edited set. */
export function presetsOf(name: string, { absorbs, deptRef, referenceOf }: Conditions): readonly OfferedPreset[] {
  return standards(name, absorbs).map(({ title, clause, reference, points }) => {
    const scaled = points.map(([x, y]): Point | null => {
      if (y === 0 || deptRef === reference) return [x, y];
      const [from, to] = [referenceOf(reference, y < 0), referenceOf(deptRef, y < 0)];
      return from === null || to === null || to === 0 ? null : [x, Number(((y * from) / to).toFixed(2))];
    });
    const tellable = scaled.filter((point) => point !== null);
    const unable = tellable.length < points.length ? 'The reference of 100 % of this set is not a rating.' : null;
    return { title, clause, points: tellable, unable };
  });
}

const storageKey = 'derbench-own-curves';
const maxOwn = 5;

/** Points by function, the last applied first. */
type Own = Readonly<Record<string, readonly (readonly Point[])[]>>;

function stored(): Own {
  try {
    const content: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    const lists = Object.entries(content as object).filter((entry) => Array.isArray(entry[1]));
    return Object.fromEntries(lists);
  } catch {
    return {};
  }
}

const appliedCurves = signal<Own>(stored());

/** The last curves of a function that were applied in this browser. @param name of the function, and of its curve */
export function ownCurves(name: string): readonly CurvePreset[] {
  return (appliedCurves.value[name] ?? []).map((points) => ({
    title: points.map(([x, y]) => `${x}: ${y}`).join(', '),
    points,
  }));
}

/** Remembers an applied curve. A browser that refuses to store it has it until the page is left. */
export function keepOwnCurve(name: string, points: readonly Point[]): void {
  const text = JSON.stringify(points);
  const others = (appliedCurves.peek()[name] ?? []).filter((each) => JSON.stringify(each) !== text);
  appliedCurves.value = { ...appliedCurves.peek(), [name]: [points, ...others].slice(0, maxOwn) };
  try {
    localStorage.setItem(storageKey, JSON.stringify(appliedCurves.peek()));
  } catch {
    // private windows may have no storage
  }
}
