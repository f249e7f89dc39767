/** Members of the documents of IEEE 2030.5, decoded as a server decodes them. */
import type { CsipMember, Value } from './model.ts';

type ReadMember = (member: unknown) => CsipMember | undefined;

function objectOf(member: unknown): Readonly<Record<string, unknown>> {
  return typeof member === 'object' && member !== null ? (member as Readonly<Record<string, unknown>>) : {};
}

/** value x 10^multiplier: ActivePower and its like. */
export function scaledMember(): ReadMember {
  return (member) => {
    const { value, multiplier = 0 } = objectOf(member);
    if (typeof value !== 'number' || typeof multiplier !== 'number') return undefined;
    return { raw: value, multiplier: Number(`1e${multiplier}`), value: Number(`${value}e${multiplier}`) };
  };
}

/** A status whose value counts hundredths: PerCent. */
export const hundredthsMember: ReadMember = (member) => {
  const { value } = objectOf(member);
  return typeof value === 'number' ? { raw: value, multiplier: 0.01, value: value / 100 } : undefined;
};

/** A status whose value is a code. */
export function wordMember(words: Readonly<Record<number, Value>>): ReadMember {
  return (member) => {
    const { value } = objectOf(member);
    return typeof value === 'number' ? { raw: value, multiplier: null, value: words[value] ?? value } : undefined;
  };
}

/** A status whose value is a bit field in hexadecimal. */
export function flagMember(bit: number, [off, on]: readonly [Value, Value]): ReadMember {
  return (member) => {
    const { value } = objectOf(member);
    if (typeof value !== 'string') return undefined;
    return { raw: value, multiplier: null, value: (parseInt(value, 16) & (1 << bit)) === 0 ? off : on };
  };
}
