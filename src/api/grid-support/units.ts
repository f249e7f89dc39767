/** Settings that a function has in two units; its mode selects the unit in force. */
import type { ProblemIssue } from '../../core/http/problem.ts';

/** Members in one unit. */
interface Unit {
  /** modes in which they count, in lower case; the first is selected where none of them is in force */
  readonly modes: readonly [string, ...string[]];
  readonly now: string;
  readonly afterReversion: string;
}

/** The mode of a function, and the members whose unit it names. */
export interface UnitChoice {
  /** point of the mode, whose member is `mode` */
  readonly point: string;
  readonly units: readonly [Unit, Unit];
}

interface Given {
  /** members of the request */
  readonly body: Readonly<Record<string, unknown>>;
  /** mode in force, in lower case; null: none */
  readonly mode: string | null;
  /** true: the function is on after the request */
  readonly enabled: boolean;
}

/** The mode that a request selects, with the member that selects it; null: the request selects none. */
type Selection = { readonly mode: string; readonly by: string } | null;

/**
 * The mode that the members of a request select. A value in a unit selects it, for it would not count otherwise. With
 * `mode` in the request both values may be given, as a reply has them.
 * @returns `issues` by the names of members, where the request contradicts itself or the mode in force
 */
export function selectedMode(
  { units }: UnitChoice,
  { body, mode, enabled }: Given,
): { readonly selected: Selection; readonly issues: readonly Pick<ProblemIssue, 'name' | 'detail'>[] } {
  const has = (name: string) => body[name] !== undefined;
  const asked = body['mode'];
  if (typeof asked === 'string') {
    const meant = units.find(({ modes }) => modes.includes(asked));
    const others = units.filter((unit) => unit !== meant);
    const issues = others.flatMap((other) =>
      (['now', 'afterReversion'] as const)
        .filter((time) => has(other[time]) && !(meant && has(meant[time])))
        .map((time) => ({
          name: other[time],
          detail: `contradicts mode ${asked}, in which ${meant?.[time] ?? 'another member'} counts`,
        })),
    );
    return { selected: null, issues };
  }
  const given = [
    ...units.filter(({ now }) => has(now)),
    ...units.filter(({ now, afterReversion }) => !has(now) && has(afterReversion)),
  ];
  const [unit, other] = given;
  if (unit === undefined) return { selected: null, issues: [] };
  const by = has(unit.now) ? unit.now : unit.afterReversion;
  if (other !== undefined) {
    const name = has(other.now) ? other.now : other.afterReversion;
    return { selected: null, issues: [{ name, detail: `contradicts ${by}: without mode only one unit can count` }] };
  }
  if (mode !== null && unit.modes.includes(mode)) return { selected: { mode, by }, issues: [] };
  const [first] = unit.modes;
  // alone it must not change the settings in force
  if (!has(unit.now) && enabled && mode !== null) {
    const detail = `counts in mode ${first} only, and the function is on in mode ${mode}; give ${unit.now} or mode too`;
    return { selected: null, issues: [{ name: by, detail }] };
  }
  return { selected: { mode: first, by }, issues: [] };
}
