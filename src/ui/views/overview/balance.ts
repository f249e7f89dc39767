/** The two bars of the site: what flows in and what flows out, from one answer. */
import type { ReplyOf } from '../../api/call';
import type { Part } from '../../kit/bars';
import { kinds } from '../../kit/kind-icons';

export type Site = ReplyOf<'site'>;

export interface Balance {
  readonly in: readonly Part[];
  readonly out: readonly Part[];
  readonly inKw: number;
  readonly outKw: number;
  /** of both bars: the larger sum */
  readonly scale: number;
}

/** Share of the scale above which the bars show that they differ. */
const negligible = 0.005;

const gridPart = (value: number): Part => ({ name: 'Grid', value: Math.max(0, value), look: 'of-grid' });

const sum = (parts: readonly Part[]) => parts.reduce((total, { value }) => total + value, 0);

/** Parts in a fixed order; no figure is adjusted. */
export function balanceOf({ net_power_kw: netKw, load_kw: loadKw, by_kind: byKind }: Site): Balance {
  const ofKinds = (direction: 'delivered_kw' | 'absorbed_kw'): readonly Part[] =>
    Object.entries(kinds).map(([kind, { title: name, look }]) => ({
      name,
      look,
      value: byKind[kind as keyof typeof kinds]?.[direction] ?? 0,
    }));
  const ins = [...ofKinds('delivered_kw'), gridPart(-netKw)];
  const outs = [gridPart(netKw), ...ofKinds('absorbed_kw'), { name: 'Load', value: loadKw, look: 'load' }];
  const [inKw, outKw] = [sum(ins), sum(outs)];
  const scale = Math.max(inKw, outKw);
  const withDifference = (parts: readonly Part[], missing: number) =>
    missing > scale * negligible ? [...parts, { name: 'Difference', value: missing, look: 'difference' }] : parts;
  return {
    in: withDifference(ins, outKw - inKw),
    out: withDifference(outs, inKw - outKw),
    inKw,
    outKw,
    scale,
  };
}
